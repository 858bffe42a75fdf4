package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// Paths below are relative to the instance's directory, in which every
// component runs: a Unix socket's path may have no more than 107 bytes.
const (
	// etcd wants a port in an address even where it is part of a file's name.
	etcdSocket = "unix://etcd:1"
	peerSocket = "unix://etcd:2"

	serviceRange = "10.96.0.0/16"
	issuer       = "https://kubernetes.default.svc.cluster.local"
)

// auditPolicy records who asked what, and of writes the body too. Reads of
// the control plane itself would be nine lines of ten, and are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  userGroups: [system:nodes, system:serviceaccounts:kube-system]
  verbs: [get, list, watch]
- level: None
  users: [system:apiserver, system:kube-controller-manager, system:kube-scheduler]
- level: Metadata
  resources: [{group: "", resources: [secrets, serviceaccounts/token]}]
- level: Request
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
`

func etcdArgs() []string {
	return []string{
		"--data-dir=etcd",
		"--listen-client-urls=" + etcdSocket,
		"--advertise-client-urls=" + etcdSocket,
		"--listen-peer-urls=" + peerSocket,
		"--initial-advertise-peer-urls=" + peerSocket,
		"--initial-cluster=default=" + peerSocket,
		"--log-level=warn",
		// The data is thrown away with the instance.
		"--unsafe-no-fsync",
		// The only member waits for nobody's vote.
		"--heartbeat-interval=10",
		"--election-timeout=50",
		"--quota-backend-bytes=8589934592",
	}
}

func apiserverArgs(o *options) ([]string, error) {
	args := []string{
		"--etcd-servers=" + etcdSocket,
		"--bind-address=" + o.bind,
		fmt.Sprintf("--secure-port=%d", o.port),
		"--tls-cert-file=" + servingCert,
		"--tls-private-key-file=" + servingKey,
		"--client-ca-file=" + caCert,
		"--authorization-mode=Node,RBAC",
		"--anonymous-auth=false",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=" + issuer,
		"--service-account-key-file=" + serviceAccountPublicKey,
		"--service-account-signing-key-file=" + serviceAccountKey,
		// A loopback address is refused as an endpoint of the service
		// `kubernetes`, and no Pod exists that could reach it.
		"--endpoint-reconciler-type=none",
		"--advertise-address=" + advertised(o.bind),
		"--allow-privileged=true",
	}
	if o.apiOnly {
		// Nobody makes the service accounts without which a Pod is refused.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	if o.auditLog != "" {
		if err := os.WriteFile(filepath.Join(o.dir, "audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--audit-policy-file=audit-policy.yaml", "--audit-log-path="+o.auditLog)
	}
	return append(args, o.apiserver...), nil
}

func controllerManagerArgs() []string {
	return []string{
		"--kubeconfig=" + controllerManagerConfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--root-ca-file=" + caCert,
		"--service-account-private-key-file=" + serviceAccountKey,
		// Each controller acts under its own name, as in a real cluster.
		"--use-service-account-credentials=true",
		"--horizontal-pod-autoscaler-sync-period=1s",
		// The defaults (20 requests a second) would be what a test of
		// thousands of Deployments measures.
		"--kube-api-qps=300",
		"--kube-api-burst=600",
	}
}

func schedulerArgs() []string {
	return []string{
		"--kubeconfig=" + schedulerConfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=300",
		"--kube-api-burst=600",
	}
}
