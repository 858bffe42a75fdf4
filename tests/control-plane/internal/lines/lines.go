// Package lines lets several processes write to one log.
package lines

import (
	"bytes"
	"io"
	"sync"
)

// Log is a stream of lines. Writers of it never break into each other's lines.
type Log struct {
	mutex sync.Mutex
	out   io.Writer
}

// NewLog returns a log that is written to out.
func NewLog(out io.Writer) *Log {
	return &Log{out: out}
}

// Writer returns a writer whose lines begin with `name: `. It belongs to one process: two
// at once would mix their lines.
func (l *Log) Writer(name string) io.Writer {
	return &writer{log: l, prefix: []byte(name + ": ")}
}

type writer struct {
	log    *Log
	prefix []byte
	rest   []byte
}

// Write keeps what is after the last end of a line until the rest of that line comes.
func (w *writer) Write(data []byte) (int, error) {
	w.rest = append(w.rest, data...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	if end == 0 {
		return len(data), nil
	}
	var out []byte
	for line := range bytes.Lines(w.rest[:end]) {
		out = append(append(out, w.prefix...), line...)
	}
	w.rest = append(w.rest[:0], w.rest[end:]...)
	w.log.mutex.Lock()
	defer w.log.mutex.Unlock()
	if _, err := w.log.out.Write(out); err != nil {
		return 0, err
	}
	return len(data), nil
}
