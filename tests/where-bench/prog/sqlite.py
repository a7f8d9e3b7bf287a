# SPDX-License-Identifier: GPL-2.0
"""Copies a database in memory, again and again; inject.so adds a leak to it."""
import sqlite3
import time

source, target = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
source.execute("create table t (a, b)")
source.executemany("insert into t values (?, ?)", ((i, "x" * i) for i in range(50)))
source.commit()
print("ready", flush=True)
while True:
    for _ in range(20):
        source.backup(target)
        source.execute("select sum(a), max(b) from t where a > 7 group by a % 3").fetchall()
    time.sleep(0.002)
