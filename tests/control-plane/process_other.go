//go:build !linux

package main

import "syscall"

// childAttributes cannot ask for a death signal here: children outlive this
// process if it is killed with SIGKILL.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
