package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// components runs the members of one instance as children of this process.
// The first that ends by itself ends the whole: cancel is told why.
type components struct {
	dir, logs string
	cancel    context.CancelCauseFunc

	running  []*exec.Cmd
	ended    sync.WaitGroup
	stopping sync.Once
	stopped  chan struct{}
}

func newComponents(o *options, cancel context.CancelCauseFunc) *components {
	return &components{dir: o.dir, logs: o.logs, cancel: cancel, stopped: make(chan struct{})}
}

// start must be called by a goroutine that is locked to its thread and lives
// as long as the instance: a child's death signal belongs to the thread.
func (c *components) start(name string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.logs, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(self, append([]string{name}, args...)...)
	command.Dir = c.dir
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = childAttributes()
	if err := command.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.running = append(c.running, command)
	c.ended.Go(func() {
		err := command.Wait()
		select {
		case <-c.stopped:
		default:
			c.cancel(fmt.Errorf("%s ended by itself (%v); its last lines:\n%s", name, err, tail(log.Name())))
		}
	})
	return nil
}

// stop kills all of them and waits until they are gone. Nobody needs them to
// end in an orderly way: their data is removed next.
func (c *components) stop() {
	c.stopping.Do(func() { close(c.stopped) })
	for _, command := range c.running {
		_ = command.Process.Kill()
	}
	c.ended.Wait()
}

func tail(path string) string {
	const lines = 15
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
