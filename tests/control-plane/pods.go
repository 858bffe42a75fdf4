package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

const (
	nodeIP     = "10.240.0.1"
	podWorkers = 8
)

// pods drives every Pod of the node to the state that a kubelet would.
type pods struct {
	client  kubernetes.Interface
	factory informers.SharedInformerFactory
	synced  cache.InformerSynced
	lister  listers.PodLister
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
	lastIP  atomic.Uint32
}

func newPods(client kubernetes.Interface) (*pods, error) {
	// The one selector that the Node authorizer lets a kubelet list with.
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", nodeName).String()
		}))
	informer := factory.Core().V1().Pods()
	p := &pods{
		client:  client,
		factory: factory,
		synced:  informer.Informer().HasSynced,
		lister:  informer.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](10*time.Millisecond, 10*time.Second)),
	}
	enqueue := func(obj any) {
		pod := obj.(*corev1.Pod)
		p.queue.Add(cache.NewObjectName(pod.Namespace, pod.Name))
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
	})
	return p, err
}

func (p *pods) run(ctx context.Context) {
	p.factory.Start(ctx.Done())
	defer p.factory.Shutdown()
	var workers sync.WaitGroup
	defer workers.Wait()
	defer p.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), p.synced) {
		return
	}
	for range podWorkers {
		workers.Go(func() { p.work(ctx) })
	}
	<-ctx.Done()
}

func (p *pods) work(ctx context.Context) {
	for {
		key, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		if err := p.sync(ctx, key); err != nil {
			klog.InfoS("Pod is tried again", "pod", key, "err", err)
			p.queue.AddRateLimited(key)
		} else {
			p.queue.Forget(key)
		}
		p.queue.Done(key)
	}
}

func (p *pods) sync(ctx context.Context, key cache.ObjectName) error {
	pod, err := p.lister.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case pod.DeletionTimestamp != nil:
		// With a period of 0 it only waits for a finalizer, which is not ours.
		if ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 && len(pod.Finalizers) > 0 {
			return nil
		}
		err = p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To[int64](0),
			Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
		})
	case pod.Status.Phase == corev1.PodPending:
		_, err = p.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, p.running(pod), metav1.UpdateOptions{})
	}
	// Gone, or changed since: an event about that is on its way.
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// running is the Pod as it is once all of its containers have started.
func (p *pods) running(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	now := metav1.Now()
	status := &pod.Status
	status.Phase = corev1.PodRunning
	status.StartTime = &now
	status.HostIP, status.HostIPs = nodeIP, []corev1.HostIP{{IP: nodeIP}}
	status.PodIP = nodeIP
	if !pod.Spec.HostNetwork {
		n := p.lastIP.Add(1)
		status.PodIP = fmt.Sprintf("10.244.%d.%d", byte(n>>8), byte(n))
	}
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}

	status.ContainerStatuses = nil
	for i := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(pod, &pod.Spec.Containers[i], now))
	}
	status.InitContainerStatuses = nil
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		s := containerStatus(pod, container, now)
		if !podutil.IsRestartableInitContainer(container) {
			s.Started = ptr.To(false)
			s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Reason: "Completed", StartedAt: now, FinishedAt: now, ContainerID: s.ContainerID,
			}}
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, s)
	}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady,
	} {
		podutil.UpdatePodCondition(status, &corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now,
		})
	}
	return pod
}

func containerStatus(pod *corev1.Pod, container *corev1.Container, now metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:        container.Name,
		Image:       container.Image,
		ImageID:     container.Image,
		ContainerID: fmt.Sprintf("none://%s/%s", pod.UID, container.Name),
		Ready:       true,
		Started:     ptr.To(true),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
	}
}
