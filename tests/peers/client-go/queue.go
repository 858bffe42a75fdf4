package main

import (
	"fmt"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// duplicates is how many adds of keys in line are timed at once.
const duplicates = 5_000_000

type queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

// newQueue makes a queue without a name: that is how its metrics are off.
func newQueue() queue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedItemBasedRateLimiter[types.NamespacedName](),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{},
	)
}

// runQueue runs a case, and returns the unit and the value.
func runQueue(name string) (unit string, value float64, err error) {
	switch name {
	case "unique-add":
		unit = "keys/s"
		value, err = uniqueAdd(newKeys(100, 1_000))
	case "unique-add-1m":
		unit = "keys/s"
		value, err = uniqueAdd(newKeys(1_000, 1_000))
	case "get-done":
		unit = "keys/s"
		value, err = getDone(newKeys(100, 1_000))
	case "2p1w":
		unit = "keys/s"
		value, err = recycle(newKeys(100, 100), 1)
	case "2p2w":
		unit = "keys/s"
		value, err = recycle(newKeys(100, 100), 2)
	case "2p8w":
		unit = "keys/s"
		value, err = recycle(newKeys(100, 100), 8)
	case "dedup-add":
		unit = "adds/s"
		value, err = dedupAdd(newKeys(10, 100))
	case "delayed-100k":
		unit = "ms"
		value, err = lateness(newKeys(100, 1_000))
	case "bytes-per-key":
		unit = "bytes"
		value, err = bytesPerKey(newKeys(1_000, 1_000))
	case "growth":
		unit = "x"
		value, err = growth()
	default:
		err = fmt.Errorf("there is no case %s", name)
	}
	return unit, value, err
}

// uniqueAdd measures keys a second that are added to a queue that knows none of them.
func uniqueAdd(set keySet) (float64, error) {
	return repeat(func() (repetition, error) {
		q := newQueue()
		start := time.Now()
		for _, key := range set.keys {
			q.Add(key)
		}
		took := time.Since(start)
		return rate(len(set.keys), took), expectEachOnceInLine(q, set)
	})
}

// getDone measures keys a second that a worker gets and is done with, while nobody adds any.
func getDone(set keySet) (float64, error) {
	return repeat(func() (repetition, error) {
		q := newQueue()
		defer q.ShutDown()
		for _, key := range set.keys {
			q.Add(key)
		}
		served := newTally(set)
		start := time.Now()
		serve(q, served, len(set.keys))
		took := time.Since(start)
		return rate(len(set.keys), took), served.expectEachOnce()
	})
}

// dedupAdd measures adds a second of keys that are in line.
func dedupAdd(set keySet) (float64, error) {
	return repeat(func() (repetition, error) {
		q := newQueue()
		for _, key := range set.keys {
			q.Add(key)
		}
		start := time.Now()
		for range duplicates / len(set.keys) {
			for _, key := range set.keys {
				q.Add(key)
			}
		}
		took := time.Since(start)
		return rate(duplicates, took), expectEachOnceInLine(q, set)
	})
}

// growth is how many times as much a key costs among a million as among 10,000: added,
// served and done.
func growth() (float64, error) {
	few, err := passage(newKeys(100, 100))
	if err != nil {
		return 0, err
	}
	// Made only now: the small case is to have the caches and the heap to itself.
	many, err := passage(newKeys(1_000, 1_000))
	return many / few, err
}

// passage measures nanoseconds a key.
func passage(set keySet) (float64, error) {
	return repeat(func() (repetition, error) {
		q := newQueue()
		defer q.ShutDown()
		served := newTally(set)
		start := time.Now()
		for _, key := range set.keys {
			q.Add(key)
		}
		serve(q, served, len(set.keys))
		took := time.Since(start)
		return cost(len(set.keys), took), served.expectEachOnce()
	})
}

// bytesPerKey measures by how much the resident set grows for a key in line. The texts of the
// keys are there before, and the queue shares them.
func bytesPerKey(set keySet) (float64, error) {
	before, err := resident()
	if err != nil {
		return 0, err
	}
	q := newQueue()
	for _, key := range set.keys {
		q.Add(key)
	}
	after, err := resident()
	if err != nil {
		return 0, err
	}
	err = expectEachOnceInLine(q, set)
	// Neither reading is to be without the keys.
	runtime.KeepAlive(set)
	return float64(after-before) / float64(len(set.keys)), err
}

// serve gets so many keys, and is done with each.
func serve(q queue, served *tally, count int) {
	for range count {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		served.count(key)
		q.Done(key)
	}
}

// expectEachOnceInLine closes the queue, serves what is in line, and checks that it is each
// key once.
func expectEachOnceInLine(q queue, set keySet) error {
	if err := expect("keys in line", q.Len(), len(set.keys)); err != nil {
		return err
	}
	q.ShutDown()
	served := newTally(set)
	for {
		key, shutdown := q.Get()
		if shutdown {
			return served.expectEachOnce()
		}
		served.count(key)
		q.Done(key)
	}
}
