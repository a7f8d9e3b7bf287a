// SPDX-License-Identifier: GPL-2.0
//! Keeps sessions in a map, app::keep_session(). With an argument it removes them, the twin. The
//! allocator is that of the system.
use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::time::Duration;

mod app {
    use super::*;

    pub struct Session {
        words: [u64; 30],
    }

    impl Session {
        fn new(turn: &mut u64) -> Box<Session> {
            let mut s = Box::new(Session { words: [0; 30] });
            for w in s.words.iter_mut() {
                *turn += 1;
                *w = turn.wrapping_mul(2654435761);
            }
            s
        }
    }

    #[inline(never)]
    pub fn keep_session(all: &mut HashMap<u64, Box<Session>>, turn: &mut u64, n: u64) {
        let s = Session::new(turn);
        all.insert(n, s);
    }

    #[inline(never)]
    pub fn serve(live: &mut VecDeque<Box<Session>>, turn: &mut u64) {
        let s = Session::new(turn);
        live.push_back(s);
        if live.len() > 64 {
            live.pop_front();
        }
    }
}

fn main() {
    let twin = std::env::args().count() > 1;
    let (mut all, mut live, mut turn) = (HashMap::new(), VecDeque::new(), 0);
    println!("ready");
    std::io::stdout().flush().unwrap();
    for n in 0u64.. {
        for _ in 0..10 {
            app::serve(&mut live, &mut turn);
        }
        app::keep_session(&mut all, &mut turn, n);
        if twin && n >= 64 {
            all.remove(&(n - 64));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
