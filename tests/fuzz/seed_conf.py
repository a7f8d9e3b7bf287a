#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every key of the configuration at the edges of what it may be, and beyond.

usage: seed_conf.py HEADER DIR [args]. names.h is found beside HEADER. With
args: as words of a command line, for fuzz_args, else a file for each value.
"""
import os
import re
import sys

names = os.path.join(os.path.dirname(sys.argv[1]), '../../seepage/names.h')
numbers = re.findall(r'X\([A-Z_]+, (\w+), \d+, (\d+), (\d+),', open(names).read())
assert len(numbers) > 10, 'names.h has no numbers in the form it always uses'
for name, low, high in numbers:
    for value in (int(low) - 1, int(low), int(high), int(high) + 1):
        line = 'seepage\n%s\n%d' if sys.argv[3:] else '{"%s": %d}'
        with open('%s/edge-%s-%d' % (sys.argv[2], name, value), 'w') as f:
            f.write(line % (name, value))
