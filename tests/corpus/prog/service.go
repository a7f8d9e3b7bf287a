// SPDX-License-Identifier: GPL-2.0

// A JSON service in Go: items are kept in a cache of a fixed number. With LEAK=permille
// that share of what is posted is kept for ever, after onset seconds: Go has a heap of its
// own, so the leak is one in Go.
package main

import (
	"encoding/json"
	"math/rand"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type item struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

type order struct {
	Key   string `json:"key"`
	Items []item `json:"items"`
}

const keep = 300

var (
	lock  sync.Mutex
	cache = map[string]*order{}
	names []string
	kept  [][]string
)

func number(name string) int64 {
	n, _ := strconv.ParseInt(os.Getenv(name), 10, 64)
	return n
}

func main() {
	leak, dice := int(number("LEAK")), rand.New(rand.NewSource(number("seed")))
	onset := time.Now().Add(time.Duration(number("onset")) * time.Second)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var out interface{}
		lock.Lock()
		defer lock.Unlock()
		if r.Method == "POST" {
			value := &order{}
			if json.NewDecoder(r.Body).Decode(value) != nil {
				return
			}
			if cache[value.Key] == nil {
				names = append(names, value.Key)
			}
			cache[value.Key] = value
			if len(names) > keep {
				delete(cache, names[0])
				names = names[1:]
			}
			words := []string{}
			for _, i := range value.Items {
				words = append(words, strings.ToUpper(i.Text))
			}
			sort.Strings(words)
			if dice.Intn(1000) < leak && time.Now().After(onset) {
				kept = append(kept, words)
			}
			out = len(words)
		} else {
			out = cache[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
		}
		body, _ := json.MarshalIndent(out, "", " ")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})
	http.ListenAndServe("127.0.0.1:"+os.Getenv("port"), nil)
}
