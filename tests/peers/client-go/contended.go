package main

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	producers = 2
	// target is how many keys are to be done.
	target = 2_000_000
	// step is after how many a worker tells the others: a counter that all write to would
	// be part of what is measured.
	step = 100
	// delay is from the start to the instant at which all delayed keys are due.
	delay = 100 * time.Millisecond
)

// progress is how far the workers are, together.
type progress struct {
	start time.Time
	done  atomic.Int64
	once  sync.Once
	over  atomic.Bool
	// What was done at the end of the race, and when that was.
	atEnd int
	took  time.Duration
}

func (p *progress) add(done int64) {
	total := p.done.Add(done)
	if total >= target && !p.over.Load() {
		p.once.Do(func() {
			p.atEnd, p.took = int(total), time.Since(p.start)
			p.over.Store(true)
		})
	}
}

// recycle measures keys a second that are done, while two producers add theirs round and
// round.
func recycle(set keySet, workers int) (float64, error) {
	return repeat(func() (repetition, error) {
		q := newQueue()
		p := &progress{start: time.Now()}
		var working, producing sync.WaitGroup
		tallies := make([]*tally, workers)
		for i := range tallies {
			served := newTally(set)
			tallies[i] = served
			working.Go(func() { work(q, p, served) })
		}
		for first := range producers {
			producing.Go(func() { produce(first, set, q, p) })
		}
		producing.Wait()
		q.ShutDown()
		working.Wait()
		total := newTally(set)
		for _, served := range tallies {
			total.merge(served)
		}
		return rate(p.atEnd, p.took), total.expectAll()
	})
}

// produce adds every second key, again and again.
func produce(first int, set keySet, q queue, p *progress) {
	for {
		for i := first; i < len(set.keys); i += producers {
			if p.over.Load() {
				return
			}
			q.Add(set.keys[i])
		}
	}
}

func work(q queue, p *progress, served *tally) {
	done := int64(0)
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		served.count(key)
		q.Done(key)
		done++
		if done == step {
			p.add(done)
			done = 0
		}
	}
}

// lateness measures milliseconds from the instant at which all keys are due to the last get.
func lateness(set keySet) (float64, error) {
	const workers = 2
	return repeat(func() (repetition, error) {
		q := newQueue()
		var left atomic.Int64
		left.Store(int64(len(set.keys)))
		var last time.Time
		var working sync.WaitGroup
		tallies := make([]*tally, workers)
		none := make(chan struct{})
		for i := range tallies {
			served := newTally(set)
			tallies[i] = served
			working.Go(func() {
				for {
					key, shutdown := q.Get()
					if shutdown {
						return
					}
					if left.Add(-1) == 0 {
						last = time.Now()
						close(none)
					}
					served.count(key)
					q.Done(key)
				}
			})
		}
		start := time.Now()
		due := start.Add(delay)
		for _, key := range set.keys {
			q.AddAfter(key, time.Until(due))
		}
		<-none
		q.ShutDown()
		working.Wait()
		total := newTally(set)
		for _, served := range tallies {
			total.merge(served)
		}
		late := last.Sub(due).Seconds() * 1e3
		return repetition{value: late, took: last.Sub(start)}, total.expectEachOnce()
	})
}
