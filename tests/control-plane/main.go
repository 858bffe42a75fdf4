// Command control-plane is a whole Kubernetes control plane in one binary, for
// tests: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and
// kubectl as upstream ships them, and a stand-in for the kubelet.
//
// The first argument says which of them a process is. `up` runs the whole set.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = `usage: control-plane up [flags]            run the whole set; up --help lists the flags
       control-plane down --dir DIR        end the set that runs in DIR
       control-plane server [flags]        run it as a container's first process, in the place of k3s
       control-plane COMPONENT [flags]     etcd, kube-apiserver, kube-controller-manager,
                                           kube-scheduler or kubectl, as upstream ships it
`

func main() {
	// A link named kubectl is a kubectl, so that one build serves both.
	if filepath.Base(os.Args[0]) == "kubectl" {
		runKubectl()
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	// Every component reads os.Args, and expects its own name in front.
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "up":
		exitOnError(up(os.Args[1:]))
	case "down":
		exitOnError(down(os.Args[1:]))
	case "server":
		exitOnError(server(os.Args[1:]))
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllermanager.NewControllerManagerCommand())
	case "kube-scheduler":
		run(scheduler.NewSchedulerCommand())
	case "kubectl":
		runKubectl()
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func runKubectl() {
	// As upstream's main: the plugin look-up logs before flags are parsed.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

func exitOnError(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		os.Exit(1)
	}
}
