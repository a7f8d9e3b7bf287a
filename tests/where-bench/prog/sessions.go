// SPDX-License-Identifier: GPL-2.0

// Keeps sessions in a map: main.keepSession. With an argument it deletes them, the twin.
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

type session struct {
	words [64]uint64
	next  *session
}

var sessions = map[int]*session{}
var last *session

//go:noinline
func keepSession(n int) {
	s := &session{}
	for i := range s.words {
		s.words[i] = uint64(n*i) * 2654435761
	}
	sessions[n] = s
}

//go:noinline
func serve(n int) {
	last = &session{}
	last.words[0] = uint64(n)
}

func main() {
	runtime.MemProfileRate = 4096
	fmt.Println("ready")
	for n := 0; ; n++ {
		for i := 0; i < 10; i++ {
			serve(i)
		}
		for i := 0; i < 4; i++ {
			keepSession(4*n + i)
			if len(os.Args) > 1 {
				delete(sessions, 4*n+i-64)
			}
		}
		if n%500 == 499 {
			runtime.GC()
		}
		time.Sleep(2 * time.Millisecond)
	}
}

var _ = runtime.MemProfile
