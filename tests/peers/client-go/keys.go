package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// keySet holds keys that were made before the clock runs.
type keySet struct {
	keys  []types.NamespacedName
	names int
}

// newKeys makes so many namespaces with so many names each, at most 10,000 of either.
func newKeys(namespaces, names int) keySet {
	set := keySet{keys: make([]types.NamespacedName, 0, namespaces*names), names: names}
	for n := range namespaces {
		// All keys of a namespace share its text.
		namespace := fmt.Sprintf("namespace-%04d", n)
		for i := range names {
			set.keys = append(set.keys, types.NamespacedName{
				Namespace: namespace,
				Name:      fmt.Sprintf("deployment-%04d", i),
			})
		}
	}
	return set
}

// place is where a key stands in its set: a worker has to read a key to know it.
func place(key types.NamespacedName, names int) int {
	return number(key.Namespace)*names + number(key.Name)
}

// number is what the last four digits make.
func number(text string) int {
	n := 0
	for _, digit := range []byte(text[max(0, len(text)-4):]) {
		n = n*10 + int(digit-'0')
	}
	return n
}

// tally is what one worker was served, or several.
type tally struct {
	names  int
	served int
	seen   []bool
}

func newTally(set keySet) *tally {
	return &tally{names: set.names, seen: make([]bool, len(set.keys))}
}

func (t *tally) count(key types.NamespacedName) {
	t.served++
	t.seen[place(key, t.names)] = true
}

// merge adds what another worker was served.
func (t *tally) merge(other *tally) {
	t.served += other.served
	for i, seen := range other.seen {
		t.seen[i] = t.seen[i] || seen
	}
}

// expectAll fails unless every key was served.
func (t *tally) expectAll() error {
	distinct := 0
	for _, seen := range t.seen {
		if seen {
			distinct++
		}
	}
	return expect("distinct keys", distinct, len(t.seen))
}

// expectEachOnce fails unless every key was served, and none twice.
func (t *tally) expectEachOnce() error {
	if err := t.expectAll(); err != nil {
		return err
	}
	return expect("keys served", t.served, len(t.seen))
}

// expect fails unless a count is what it has to be.
func expect(what string, actual, expected int) error {
	if actual == expected {
		return nil
	}
	return fmt.Errorf("%s: %d instead of %d", what, actual, expected)
}
