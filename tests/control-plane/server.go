package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"minrep.dev/tests/control-plane/internal/k3s"
	"minrep.dev/tests/control-plane/internal/lines"
)

// containerDir is the instance's directory in a container. A container that is started
// again is a new cluster: `claim` removes what the old one has left.
const containerDir = "/var/lib/control-plane"

// server runs an instance as the first process of a container, in the place of k3s.
// Everything that it says is on stderr, where `docker logs` finds it.
func server(args []string) error {
	asked, err := k3s.Parse(args, os.Getenv)
	if err != nil {
		return err
	}
	names, err := ownNames()
	if err != nil {
		return err
	}
	return runInstance(&options{
		dir:               containerDir,
		logs:              filepath.Join(containerDir, "logs"),
		bind:              "0.0.0.0",
		port:              k3s.Port,
		timeout:           time.Minute,
		tlsNames:          append(names, asked.TLSNames...),
		apiserver:         asked.APIServer,
		controllerManager: asked.ControllerManager,
		scheduler:         asked.Scheduler,
		log:               lines.NewLog(os.Stderr),
		ready: func(o *options) error {
			return announceAsK3s(o, asked)
		},
	})
}

// announceAsK3s puts the kubeconfig where k3s has it and says what k3s says.
func announceAsK3s(o *options, asked *k3s.Options) error {
	config, err := clientcmd.LoadFromFile(filepath.Join(o.dir, adminConfig))
	if err != nil {
		return err
	}
	context := config.Contexts[config.CurrentContext]
	same := clientcmdapi.NewConfig()
	same.Clusters[k3s.Context] = config.Clusters[context.Cluster]
	same.AuthInfos[k3s.Context] = config.AuthInfos[context.AuthInfo]
	same.Contexts[k3s.Context] = &clientcmdapi.Context{Cluster: k3s.Context, AuthInfo: k3s.Context}
	same.CurrentContext = k3s.Context
	text, err := clientcmd.Write(*same)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k3s.Kubeconfig), 0o755); err != nil {
		return err
	}
	// One that is half written must not be found.
	part := k3s.Kubeconfig + ".part"
	if err := os.WriteFile(part, text, asked.Mode); err != nil {
		return err
	}
	if err := os.Rename(part, k3s.Kubeconfig); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.log.Writer("control-plane"), k3s.Ready)
	return err
}
