package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/version"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/utils/clock"
)

const (
	nodeName = "node-1"

	// The kubelet's defaults: a Lease of 40 s, renewed after a quarter of it.
	leaseSeconds = 40
	leaseRenewal = leaseSeconds * time.Second / 4
)

// startNode is a kubelet without containers: it registers a Node, keeps its
// Lease, and reports every Pod bound to it as running and ready. It has a
// kubelet's name and rights. The function it returns waits for its end, which
// the end of ctx begins.
func startNode(ctx context.Context, client kubernetes.Interface) (wait func(), err error) {
	if _, err := client.CoreV1().Nodes().Create(ctx, newNode(), metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("cannot register the node: %w", err)
	}
	heartbeat := lease.NewController(clock.RealClock{}, client, nodeName, leaseSeconds, nil,
		leaseRenewal, nodeName, corev1.NamespaceNodeLease, nil)
	pods, err := newPods(client)
	if err != nil {
		return nil, err
	}
	var tasks sync.WaitGroup
	tasks.Go(func() { heartbeat.Run(ctx) })
	tasks.Go(func() { pods.run(ctx) })
	return tasks.Wait, nil
}

// newNode is large enough that no test fills it.
func newNode() *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("10k"),
		corev1.ResourceMemory:           resource.MustParse("10Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("10Ti"),
		corev1.ResourcePods:             resource.MustParse("100k"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: nodeName,
			Labels: map[string]string{
				corev1.LabelHostname:   nodeName,
				corev1.LabelOSStable:   runtime.GOOS,
				corev1.LabelArchStable: runtime.GOARCH,
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: nodeIP},
				{Type: corev1.NodeHostName, Address: nodeName},
			},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:          version.Get().GitVersion,
				ContainerRuntimeVersion: "none://0.0.0",
				OperatingSystem:         runtime.GOOS,
				Architecture:            runtime.GOARCH,
			},
			// Without all four the node lifecycle controller would take
			// them for unknown, and taint the Node.
			Conditions: []corev1.NodeCondition{
				nodeCondition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady"),
				nodeCondition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory"),
				nodeCondition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure"),
				nodeCondition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID"),
			},
		},
	}
}

func nodeCondition(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) corev1.NodeCondition {
	now := metav1.Now()
	return corev1.NodeCondition{
		Type: kind, Status: status, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: now,
	}
}
