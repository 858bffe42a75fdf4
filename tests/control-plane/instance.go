package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockFile marks a directory as ours. Who holds its lock is alive, and the pid
// in it is his: a pid alone may meanwhile belong to somebody else.
const lockFile = "control-plane.lock"

// claim makes DIR the caller's until the process ends. What a killed instance
// left there is removed. A directory of somebody else's is never touched.
func claim(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		lock, pid, err := tryLock(dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("%s is neither empty nor an instance's directory", dir)
		case err != nil:
			return err
		case lock == nil:
			return fmt.Errorf("an instance (pid %d) already runs in %s", pid, dir)
		}
		err = removeAll(dir)
		lock.Close()
		if err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// Locked and filled before it gets its name: whoever finds it can rely on
	// both. Link, unlike Rename, fails where another instance was quicker.
	lock, err := os.CreateTemp(dir, lockFile)
	if err != nil {
		return err
	}
	defer os.Remove(lock.Name())
	if _, err := fmt.Fprintln(lock, os.Getpid()); err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	held = lock
	return os.Link(lock.Name(), filepath.Join(dir, lockFile))
}

// held is never closed, not by a finalizer either: the lock is to last as long
// as the process.
var held *os.File

// down ends the instance in --dir and removes the directory. No instance is
// not an error: nothing is left behind, which is what was asked for.
func down(args []string) error {
	flags := flag.NewFlagSet("down", flag.ExitOnError)
	dir := flags.String("dir", "", "the instance's directory (required)")
	_ = flags.Parse(args)
	if *dir == "" {
		return errors.New("down needs --dir")
	}
	// An instance needs a second to end.
	const patience = 20 * time.Second
	var signalled time.Time
	for ; ; time.Sleep(20 * time.Millisecond) {
		lock, pid, err := tryLock(*dir)
		switch {
		case errors.Is(err, os.ErrNotExist) && signalled.IsZero():
			fmt.Fprintln(os.Stderr, "no instance in", *dir)
			return nil
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case lock != nil:
			// It was killed before it could clean up.
			defer lock.Close()
			return removeAll(*dir)
		case signalled.IsZero():
			signalled = time.Now()
			err = syscall.Kill(pid, syscall.SIGTERM)
		case time.Since(signalled) > patience:
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("cannot end pid %d: %w", pid, err)
		}
	}
}

// tryLock returns the lock if nobody holds it, else the holder's pid. An error
// that is os.ErrNotExist says that DIR is no instance's.
func tryLock(dir string) (lock *os.File, pid int, err error) {
	file, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, 0, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, 0, nil
	}
	defer file.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, 0, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, 0, fmt.Errorf("%s holds no pid: %w", file.Name(), err)
	}
	return nil, pid, nil
}

// removeAll tries again while a component that was just killed still writes.
func removeAll(dir string) (err error) {
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
