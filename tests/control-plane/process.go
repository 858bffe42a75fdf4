package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// components runs the members of one instance as children of this process.
// The first that ends by itself ends the whole: cancel is told why.
type components struct {
	options *options
	cancel  context.CancelCauseFunc

	running  []*exec.Cmd
	ended    sync.WaitGroup
	stopping sync.Once
	stopped  chan struct{}
}

func newComponents(o *options, cancel context.CancelCauseFunc) *components {
	return &components{options: o, cancel: cancel, stopped: make(chan struct{})}
}

// start must be called by a goroutine that is locked to its thread and lives
// as long as the instance: a child's death signal belongs to the thread.
func (c *components) start(name string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := c.options.logOf(name)
	if err != nil {
		return err
	}
	if file, ok := log.(*os.File); ok {
		// The child has its own.
		defer file.Close()
	}
	command := exec.Command(self, append([]string{name}, args...)...)
	command.Dir = c.options.dir
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
			c.cancel(fmt.Errorf("%s ended by itself (%v)%s", name, err, c.options.lastLines(name)))
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

// logOf is where the component, or the node, writes.
func (o *options) logOf(name string) (io.Writer, error) {
	if o.log != nil {
		return o.log.Writer(name), nil
	}
	return os.Create(o.logFile(name))
}

func (o *options) logFile(name string) string {
	return filepath.Join(o.logs, name+".log")
}

// lastLines is the end of a component's log, unless everybody has seen that.
func (o *options) lastLines(name string) string {
	if o.log != nil {
		return ""
	}
	const lines = 15
	text, err := os.ReadFile(o.logFile(name))
	if err != nil {
		return ": " + err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "; its last lines:\n  " + strings.Join(all[max(0, len(all)-lines):], "\n  ")
}
