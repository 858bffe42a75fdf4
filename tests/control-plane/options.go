package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"minrep.dev/tests/control-plane/internal/lines"
)

type options struct {
	dir, logs, auditLog, bind string
	port                      int
	apiOnly, lifeline         bool
	timeout                   time.Duration

	// Only a container's instance has these.

	// tlsNames are names and addresses for the API server's certificate.
	tlsNames []string
	// Further flags of the components: the last of two wins.
	apiserver, controllerManager, scheduler []string
	// log is where the components write, instead of files.
	log *lines.Log

	// ready is called once, when the instance can be used.
	ready func(*options) error
}

func parseOptions(args []string) (*options, error) {
	o := &options{ready: announce}
	flags := flag.NewFlagSet("up", flag.ExitOnError)
	flags.StringVar(&o.dir, "dir", "", "directory of the instance, made and removed by it (required)")
	flags.BoolVar(&o.apiOnly, "api-only", false, "only etcd and kube-apiserver: no controllers, no scheduler, no node")
	flags.StringVar(&o.logs, "logs", "", "directory for the components' logs, kept (default DIR/logs, removed)")
	flags.StringVar(&o.auditLog, "audit-log", "", "write kube-apiserver's audit log to this file")
	flags.StringVar(&o.bind, "bind-address", "127.0.0.1", "address that kube-apiserver listens on")
	flags.IntVar(&o.port, "port", 0, "port that kube-apiserver listens on (default a free one)")
	flags.BoolVar(&o.lifeline, "lifeline", false, "end when stdin ends, that is, with the process at its other end")
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "give up if not ready after this long")
	_ = flags.Parse(args)
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.dir == "" {
		return nil, errors.New("up needs --dir")
	}
	if net.ParseIP(o.bind) == nil {
		return nil, fmt.Errorf("--bind-address %q is no IP address", o.bind)
	}
	if o.logs == "" {
		o.logs = filepath.Join(o.dir, "logs")
	}
	// The components run in another directory.
	for _, path := range []*string{&o.dir, &o.logs, &o.auditLog} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = absolute
	}
	if o.port == 0 {
		port, err := freePort(o.bind)
		if err != nil {
			return nil, err
		}
		o.port = port
	}
	return o, nil
}

// server is the address that clients on this machine use.
func (o *options) server() string {
	host := o.bind
	if net.ParseIP(host).IsUnspecified() {
		host = "127.0.0.1"
	}
	return "https://" + net.JoinHostPort(host, strconv.Itoa(o.port))
}

// announce prints the one line on stdout that callers of `up` wait for.
func announce(o *options) error {
	// Whoever wanted to know may have left.
	_, _ = fmt.Println(filepath.Join(o.dir, adminConfig))
	return nil
}

func freePort(bind string) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(bind, "0"))
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
