package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// The groups to assign, as tests/peers/src/groups.rs writes them.

type topic struct {
	name       string
	partitions int32
}

type claim struct {
	topic      int32
	partitions []int32
}

type member struct {
	id           string
	subscription []int32
	rack         int32
	claimed      int32
	claims       []claim
}

type group struct {
	generation int32
	racks      []string
	topics     []topic
	members    []member
}

// share is partitions by topic.
type share map[string][]int32

func (g *group) names(topics []int32) []string {
	names := make([]string, len(topics))
	for i, topic := range topics {
		names[i] = g.topics[topic].name
	}
	return names
}

func (g *group) claims(m *member) share {
	claims := make(share, len(m.claims))
	for _, c := range m.claims {
		claims[g.topics[c.topic].name] = c.partitions
	}
	return claims
}

type reader struct {
	in  *bufio.Reader
	err error
}

func readGroups(path string, each func(*group) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := &reader{in: bufio.NewReaderSize(file, 1<<20)}
	if magic := string(r.bytes(8)); magic != "KSGROUPS" {
		return fmt.Errorf("%s is no file of groups", path)
	}
	for left := r.int(); left > 0; left-- {
		g := r.group()
		if r.err != nil {
			return r.err
		}
		if err := each(g); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) group() *group {
	g := &group{generation: r.int()}
	g.racks = list(r, r.string)
	g.topics = list(r, r.topic)
	subscriptions := list(r, r.ints)
	g.members = list(r, func() member {
		return member{r.string(), subscriptions[r.int()], r.int(), r.int(), list(r, func() claim { return claim{r.int(), r.ints()} })}
	})
	return g
}

// topic passes over the racks, which neither balancer can be told from outside.
func (r *reader) topic() topic {
	t := topic{r.string(), r.int()}
	r.bytes(int(t.partitions) * int(r.int()) * 4)
	return t
}

func (r *reader) bytes(length int) []byte {
	bytes := make([]byte, length)
	if _, err := io.ReadFull(r.in, bytes); err != nil && r.err == nil {
		r.err = err
	}
	return bytes
}

func (r *reader) int() int32 {
	return int32(binary.BigEndian.Uint32(r.bytes(4)))
}

func (r *reader) ints() []int32 {
	return list(r, r.int)
}

func (r *reader) string() string {
	return string(r.bytes(int(binary.BigEndian.Uint16(r.bytes(2)))))
}

func list[T any](r *reader, item func() T) []T {
	count := r.int()
	items := make([]T, 0, count)
	for ; count > 0 && r.err == nil; count-- {
		items = append(items, item())
	}
	return items
}
