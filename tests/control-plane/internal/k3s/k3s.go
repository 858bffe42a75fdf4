// Package k3s is what the image shares with k3s: the command line, the port, the kubeconfig's
// place and the word that says it is ready. The testcontainers modules for k3s, in whatever
// language, rely on nothing else.
package k3s

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

const (
	// Port is where the API server listens.
	Port = 6443

	// Kubeconfig is an administrator's, with loopback as the server: whoever takes it out
	// of the container puts the published port there.
	Kubeconfig = "/etc/rancher/k3s/k3s.yaml"

	// Context is the name of everything in it.
	Context = "default"

	// Ready stands on stderr once the cluster can be used.
	Ready = "Node controller sync successful"

	defaultMode = 0o600
)

// Options is what was asked for.
type Options struct {
	// Names and addresses that the API server's certificate is to be valid for besides its own.
	TLSNames []string
	// Flags of the components, with their dashes.
	APIServer, ControllerManager, Scheduler []string
	// Mode of the kubeconfig.
	Mode fs.FileMode
}

// Parse reads what follows the word `server`. It knows the flags that make a difference
// here, and those that ask for what this cluster does anyway; any other is refused, so that
// nobody believes in a setting that has no effect.
func Parse(args []string, env func(string) string) (*Options, error) {
	o := &Options{Mode: defaultMode}
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(io.Discard)

	// No container runs here, and none of what k3s brings along.
	flags.Func("snapshotter", "", ignore)
	flags.Func("disable", "", ignore)

	flags.Func("tls-san", "", func(value string) error {
		o.TLSNames = append(o.TLSNames, strings.Split(value, ",")...)
		return nil
	})
	flags.Func("kube-apiserver-arg", "", component(&o.APIServer))
	flags.Func("kube-controller-manager-arg", "", component(&o.ControllerManager))
	flags.Func("kube-scheduler-arg", "", component(&o.Scheduler))
	mode := flags.String("write-kubeconfig-mode", env("K3S_KUBECONFIG_MODE"), "")

	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *mode != "" {
		bits, err := strconv.ParseUint(*mode, 8, 9)
		if err != nil {
			return nil, fmt.Errorf("%q is no mode of a file, such as 644", *mode)
		}
		o.Mode = fs.FileMode(bits)
	}
	return o, nil
}

func ignore(string) error { return nil }

func component(args *[]string) func(string) error {
	return func(value string) error {
		if strings.HasPrefix(value, "-") {
			return errors.New("the component's flag comes without dashes")
		}
		*args = append(*args, "--"+value)
		return nil
	}
}
