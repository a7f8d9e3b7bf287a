#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Honest answers of the module as inputs of fuzz_reply, a file each in DIR.

usage: seed_reply.py HEADER DIR. HEADER is the uapi header, which has the
numbers; the instructions that build the answers are those of wire.c.
"""
import re
import sys

header = open(sys.argv[1]).read()
ALERT_GROUP = 7
JSON, PRETTY, FAMILY = 0x20, 0x40, 0x80
(STATUS, PS, SHOW, EXPLAIN, ALERTS, GET, SET, RESET, VERSION, WATCH, WATCH_SINCE, STAT,
 STAT_ALL, EXPORT) = (0, 1, 3, 4, 5, 7, 9, 10, 11, 12, 15, 16, 17, 18)  # lines of fuzz_reply.c


def enum(name):
    body = re.search(r'enum %s \{(.*?)\n\};' % name, header, re.S).group(1)
    body = re.sub(r'/\*.*?\*/', '', body, flags=re.S)
    words = [w.strip() for w in body.split(',')]
    return {w: i for i, w in enumerate(w for w in words if w and '=' not in w)}


ATTR, KEYS, COUNTERS = (enum('seepage_' + n) for n in ('attr', 'cfg', 'counter'))


def a(name):
    return ATTR['SEEPAGE_A_' + name]


def num(attr, size, value, shift=0):
    return bytes([7 | size.bit_length() - 1 << 3, attr, value, shift])


def text(attr, word):
    word = word if isinstance(word, bytes) else word.encode()
    return bytes([1, attr, len(word) + 1]) + word + b'\0'


def nest(attr, *body):
    return bytes([2, attr]) + b''.join(body) + b'\3'


def raw(data):
    return bytes([6, len(data)]) + data


def message(kind, flags=0, cmd=0):
    return bytes([0, kind, flags, cmd])


def end(how=0):
    return bytes([4 | how << 3])


def error(errno, word=None):
    data = (-errno).to_bytes(4, 'little', signed=True) + bytes(16)
    return message(1, 0xc0 if word else 0x80) + raw(data) + (text(1, word) if word else b'') + end()


ACK, DONE = error(0), message(2, 2) + raw(bytes(4)) + end()


def factor(i):
    return nest(a('FACTOR'), num(2, 1, i), num(3, 1, 20), num(4, 1, 40), num(5, 8, 7, 20),
                num(6, 8, 3))


def gate(i):
    return nest(a('GATE'), num(2, 1, i), num(3, 1, i & 1), num(4, 8, 9, 20), num(5, 8, 5))


def level(ms, more=0):
    """more: as many zeros as the instruction has room to ask for"""
    minima = b''.join((v << 24).to_bytes(8, 'little') for v in (1, 2, 3, 4))
    return nest(a('LEVEL'), num(2, 8, ms, 7), bytes([1 | more << 3, 3, len(minima)]) + minima)


NAMES = (b'leaky', b'a\x1b[2J\xc2\x9b2J\x7f\n', b'\xff\xc3\xbc\xe2\x80\xae"\\')


def process(state, cmd, pid=1, seq=0):
    parts = [message(0, 2, cmd)]
    if seq:
        parts += [num(a('SEQ'), 8, seq), num(a('TIME_NS'), 8, 3, 59), num(a('INSTANCE'), 8, 3),
                  num(a('PREV_STATE'), 1, 0)]
    parts += [num(a('PID'), 4, pid), text(a('COMM'), NAMES[state % 3]), num(a('UID'), 4, 0),
              num(a('CGROUP_ID'), 8, 9), num(a('STATE'), 1, state), num(a('POLICY'), 1, 0),
              num(a('CONFIDENCE'), 1, 90), num(a('SEVERITY'), 1, 8)]
    parts += [num(a(n + '_BYTES'), 8, 17, 22)
              for n in ('RSS', 'ANON', 'FILE', 'SHMEM', 'SWAP', 'VSZ', 'BRK')]
    parts += [num(a('GROWTH_BYTES_PER_HOUR'), 8, 5, 24), num(a('TTE_SECONDS'), 8, 30, 6)]
    parts += [num(a('FAULTS_' + n), 8, 33, 4) for n in ('USER', 'KERNEL', 'ANON', 'FILE')]
    parts += [num(a('FAULT_RATE'), 4, 12), num(a('AGE_SECONDS'), 8, 44, 4),
              nest(a('FACTORS'), *(factor(i) for i in (5, 6, 7, 8)))]
    if cmd != 8:
        parts += [nest(a('GATES'), *(gate(i) for i in (1, 3, 4, 5, 6, 7)))]
    if cmd == 2 and pid == 1:
        parts += [nest(a('HISTORY'), level(78), level(156), level(7, 31))]
    return b''.join(parts)


def values(attr, *counts):
    data = b''.join(v.to_bytes(8, 'little') for n in counts for v in (n, 100, 50))
    return bytes([1, attr, len(data)]) + data


def pmc_event(name, state=0):
    return nest(a('PMC_EVENT'), text(2, name), num(5, 1, state),
                text(6, 'it has none') if state == 2 else b'', values(7, 1 << 20))


def pmc(ended=0):
    """A status with counters"""
    events = (pmc_event('cycles'), pmc_event('instructions'), pmc_event('llc_misses', 1),
              pmc_event('dtlb_misses', 2))
    return (message(0, 0, 1) + text(a('PMC'), 'on') + num(a('PMC_SET'), 4, 5 + ended) +
            nest(a('PMC_EVENTS'), *events) + end() + ACK)


def counted(n, pid=1):
    return (process(0, 2, pid) + num(a('PMC_SET'), 4, 5) +
            values(a('PMC_VALUES'), n, 2 * n, n >> 8, 0) + end())


def status():
    small = [num(a(n), size, 3) for n, size in (
        ('PROCESSES', 4), ('REC_BYTES', 4), ('MEMORY_BYTES', 8), ('SEQ_FIRST', 8), ('INSTANCE', 8),
        ('SEQ_LAST', 8), ('TICKS', 8), ('TICK_COST_NS', 8), ('TICK_COST_MAX_NS', 8),
        ('INTERVAL_MS', 4), ('STRETCHED', 1), ('POLICY', 1))]
    counters = (num(i, 8, i) for i in range(1, len(COUNTERS)))
    return b''.join([message(0, 0, 1), text(a('VERSION'), '1.0'), text(a('HOOK'), 'tracepoint'),
                     text(a('PMC'), 'off'), nest(a('COUNTERS'), *counters), *small, end(), ACK])


def config():
    keys = (num(i, 4, 100) for i in range(1, len(KEYS)))
    return message(0, 0, 3) + nest(a('CONFIG'), *keys) + end() + ACK


def family():
    group = nest(1, text(1, 'alert'), num(2, 4, ALERT_GROUP))
    return message(3, 0, 1) + num(1, 2, 0x20) + text(2, 'seepage') + nest(7, group) + end() + ACK


inputs = [
    (EXPORT, pmc() + config() + process(3, 5, seq=1) + end() + DONE + process(4, 2) +
     counted(1 << 30, 2) + DONE),
    (EXPORT, error(1, 'needs CAP_PERFMON or CAP_SYS_ADMIN')),
    (SET, error(22, 'warmup_s: allowed 0..86400')),
    (RESET, ACK),
    (VERSION, status()),
    (STATUS | FAMILY, family() + status() + config()),
]
for form in (0, JSON, PRETTY):
    ring = process(3, 5, seq=1) + process(6, 5, seq=2) + process(2, 5, 2, seq=3) + end() + DONE
    inputs += [
        (STATUS | form, status() + config()),
        (PS | form, process(4, 2) + process(0, 2, 2) + end() + DONE
         + error(1, 'needs CAP_PERFMON or CAP_SYS_ADMIN')),
        (SHOW | form, process(3, 2) + end() + ACK + status()),
        (EXPLAIN | form, process(2, 2) + end() + ACK + ring + status()),
        (EXPLAIN | form, error(3, 'no such process') + ring),
        (ALERTS | form, ring),
        (GET | form, config()),
        (STAT | form, pmc() + counted(1 << 30) + ACK + pmc() + counted(1 << 31) + ACK + pmc(1)),
        (STAT_ALL | form, pmc() + counted(1 << 30) + DONE + pmc() + counted(1 << 31) +
         counted(1 << 20, 2) + DONE),
        (WATCH | form, status() + DONE + process(4, 7, seq=4) + end(3) + error(2)),
        (WATCH_SINCE | form, status() + ring + process(4, 7, seq=9) + end(2) + status() + ring),
    ]
for n, (first, program) in enumerate(inputs):
    with open('%s/seed-%d' % (sys.argv[2], n), 'wb') as f:
        f.write(bytes([first]) + program)
