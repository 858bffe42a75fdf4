package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// errStop is the cause of an end that somebody asked for.
var errStop = errors.New("asked to stop")

// up runs an instance. Once that is ready it prints one line on stdout, the
// kubeconfig's path.
func up(args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	return runInstance(o)
}

// runInstance returns after a signal, the end of stdin (with --lifeline), or
// the death of a component. It leaves nothing behind.
func runInstance(o *options) error {
	// The children's death signal belongs to the thread that started them.
	runtime.LockOSThread()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	watchForTheEnd(o, cancel)

	if err := claim(o.dir); err != nil {
		return err
	}
	children := newComponents(o, cancel)
	err := serve(ctx, o, children)
	cancel(nil)
	children.stop()
	if errors.Is(err, errStop) {
		err = nil
	}
	return errors.Join(err, removeAll(o.dir))
}

func watchForTheEnd(o *options, cancel context.CancelCauseFunc) {
	// Whoever read our output may have left.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		cancel(errStop)
	}()
	if o.lifeline {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel(errStop)
		}()
	}
}

// serve returns why the instance is to end; it is never nil.
func serve(ctx context.Context, o *options, children *components) error {
	start := time.Now()
	if err := prepare(o); err != nil {
		return err
	}
	apiserver, err := apiserverArgs(o)
	if err != nil {
		return err
	}
	if err := children.start("etcd", etcdArgs()); err != nil {
		return err
	}
	if err := children.start("kube-apiserver", apiserver); err != nil {
		return err
	}

	starting, done := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not ready after %s", o.timeout))
	defer done()
	client, err := newClient(o, adminConfig)
	if err != nil {
		return err
	}
	if !until(starting, func(ctx context.Context) bool { return isServing(ctx, client) }) {
		return context.Cause(starting)
	}
	if !o.apiOnly {
		if err := children.start("kube-controller-manager", append(controllerManagerArgs(), o.controllerManager...)); err != nil {
			return err
		}
		if err := children.start("kube-scheduler", append(schedulerArgs(), o.scheduler...)); err != nil {
			return err
		}
		nodeClient, err := newClient(o, nodeConfig)
		if err != nil {
			return err
		}
		stopNode, err := startNode(ctx, nodeClient)
		if err != nil {
			return err
		}
		defer stopNode()
		if !until(starting, func(ctx context.Context) bool { return runsPods(ctx, client) }) {
			return context.Cause(starting)
		}
	}
	done()

	fmt.Fprintf(os.Stderr, "ready after %.1f s at %s\n", time.Since(start).Seconds(), o.server())
	if err := o.ready(o); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func prepare(o *options) error {
	if err := os.MkdirAll(o.logs, 0o700); err != nil {
		return err
	}
	// What client-go says about the node stand-in belongs with the other logs.
	log, err := o.logOf("node")
	if err != nil {
		return err
	}
	klog.LogToStderr(false)
	klog.SetOutput(log)
	return writeCredentials(o)
}

func newClient(o *options, config string) (kubernetes.Interface, error) {
	c, err := clientcmd.BuildConfigFromFlags("", filepath.Join(o.dir, config))
	if err != nil {
		return nil, err
	}
	c.QPS = -1 // no client-side limit
	return kubernetes.NewForConfig(c)
}

func until(ctx context.Context, condition func(context.Context) bool) bool {
	return nil == wait.PollUntilContextCancel(ctx, 25*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		return condition(ctx), nil
	})
}

func isServing(ctx context.Context, client kubernetes.Interface) bool {
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// runsPods says whether a Pod made in `default` would be admitted and scheduled.
func runsPods(ctx context.Context, client kubernetes.Interface) bool {
	node, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil || len(node.Spec.Taints) > 0 {
		return false
	}
	_, err = client.CoreV1().ServiceAccounts(corev1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err == nil
}
