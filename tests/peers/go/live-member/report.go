package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
)

// partitions are partition numbers by topic.
type partitions map[string][]int32

// watch is what a member last saw. Callbacks come on several goroutines.
type watch struct {
	lock   sync.Mutex
	topics []string
	has    partitions
	// Whether this member has computed an assignment since it was last given one.
	leads bool
}

var speaking sync.Mutex

func say(kind string, what any) {
	speaking.Lock()
	defer speaking.Unlock()
	line, err := json.Marshal(map[string]any{kind: what})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(string(line))
}

func failed(err error) {
	say("Failed", err.Error())
}

func read(topic string, partition int32, offset int64, generation int32) {
	say("Read", map[string]any{"topic": topic, "partition": partition, "offset": offset, "generation": generation})
}

// led notes that this member computed an assignment; what it took the others to have had is not to be seen from outside.
func (w *watch) led() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.leads = true
	say("Led", map[string]any{})
}

func (w *watch) assigned(generation int32, memberID string, added partitions) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for topic, numbers := range added {
		w.has[topic] = append(w.has[topic], numbers...)
	}
	say("Assigned", map[string]any{
		"generation":   generation,
		"member_id":    memberID,
		"subscription": w.topics,
		"partitions":   listed(w.has),
		"leader":       w.leads,
	})
	w.leads = false
}

// gone notes partitions that were "Revoked" or "Lost".
func (w *watch) gone(how string, these partitions) {
	w.lock.Lock()
	defer w.lock.Unlock()
	say(how, listed(these))
	for topic, numbers := range these {
		w.has[topic] = slices.DeleteFunc(w.has[topic], func(number int32) bool {
			return slices.Contains(numbers, number)
		})
	}
}

func listed(of partitions) [][]any {
	list := [][]any{}
	for topic, numbers := range of {
		for _, number := range numbers {
			list = append(list, []any{topic, number})
		}
	}
	return list
}
