// SPDX-License-Identifier: GPL-2.0
// Leaks on command as leaky.c does. It prints the bytes in use of the largest site, as the
// profile of the runtime itself has them.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
)

var keep [][]byte

//go:noinline
func leakSession(n int) {
	for i := 0; i < n; i++ {
		keep = append(keep, make([]byte, 128))
	}
}

func inUse() (most int64) {
	runtime.GC()
	runtime.GC()
	r := make([]runtime.MemProfileRecord, 10000)
	n, _ := runtime.MemProfile(r, true)
	for _, v := range r[:n] {
		if v.InUseBytes() > most {
			most = v.InUseBytes()
		}
	}
	return most
}

func main() {
	runtime.MemProfileRate = 1
	in := bufio.NewScanner(os.Stdin)
	leakSession(1000)
	inUse()
	fmt.Println("ready")
	for in.Scan() {
		var word string
		var n int
		fmt.Sscanf(in.Text(), "%s %d", &word, &n)
		if word == "leak" {
			leakSession(n)
		}
		fmt.Println(0, inUse())
	}
}
