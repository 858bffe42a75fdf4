package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// enough is how much is timed at least, all repetitions together.
const enough = time.Second

// repetition is one of a case.
type repetition struct {
	// value is in the unit of the case.
	value float64
	// took is how long the timed part took.
	took time.Duration
}

// rate is so many operations a second.
func rate(operations int, took time.Duration) repetition {
	return repetition{value: float64(operations) / took.Seconds(), took: took}
}

// cost is so many nanoseconds an operation.
func cost(operations int, took time.Duration) repetition {
	return repetition{value: took.Seconds() * 1e9 / float64(operations), took: took}
}

// repeat repeats a case until a second was timed, and returns the median. The first
// repetition warms caches and heap up, and does not count. What the last repetition left
// behind is collected before the next one starts, as testing.B does it.
func repeat(once func() (repetition, error)) (float64, error) {
	if _, err := once(); err != nil {
		return 0, err
	}
	var values []float64
	for timed := time.Duration(0); timed < enough; {
		runtime.GC()
		r, err := once()
		if err != nil {
			return 0, err
		}
		values = append(values, r.value)
		timed += r.took
	}
	return median(values), nil
}

// median wants at least one value.
func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// resident is the resident set of this process in bytes, without garbage. Linux only: it is
// read from /proc.
func resident() (int, error) {
	runtime.GC()
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, pages int
	if _, err := fmt.Sscan(string(statm), &size, &pages); err != nil {
		return 0, fmt.Errorf("an odd /proc/self/statm: %w", err)
	}
	return pages * os.Getpagesize(), nil
}
