package k3s

import (
	"reflect"
	"testing"
)

func none(string) string { return "" }

// What the modules for Rust, Go and Java call it with.
func TestCommandLinesOfTheModulesAreUnderstood(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"--snapshotter=native"},
		{"--disable=traefik", "--tls-san=localhost"},
	} {
		if _, err := Parse(args, none); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestFlagsArePassedOn(t *testing.T) {
	got, err := Parse([]string{
		"--tls-san", "a.example,10.0.0.1", "--tls-san=b",
		"--kube-apiserver-arg=v=2",
		"--kube-controller-manager-arg=horizontal-pod-autoscaler-sync-period=5s",
		"--kube-controller-manager-arg=v=3",
		"--kube-scheduler-arg=v=4",
	}, none)
	if err != nil {
		t.Fatal(err)
	}
	want := &Options{
		TLSNames:          []string{"a.example", "10.0.0.1", "b"},
		APIServer:         []string{"--v=2"},
		ControllerManager: []string{"--horizontal-pod-autoscaler-sync-period=5s", "--v=3"},
		Scheduler:         []string{"--v=4"},
		Mode:              0o600,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTheModeComesFromTheFlagOrTheEnvironment(t *testing.T) {
	env := func(name string) string {
		if name == "K3S_KUBECONFIG_MODE" {
			return "644"
		}
		return ""
	}
	for _, test := range []struct {
		args []string
		env  func(string) string
		want uint32
	}{
		{nil, none, 0o600},
		{nil, env, 0o644},
		{[]string{"--write-kubeconfig-mode=0640"}, env, 0o640},
	} {
		got, err := Parse(test.args, test.env)
		if err != nil || uint32(got.Mode) != test.want {
			t.Errorf("%v: got %+v, %v, want %o", test.args, got, err, test.want)
		}
	}
}

func TestWhatHasNoEffectIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--cluster-init"},
		{"agent"},
		{"--write-kubeconfig-mode=rw"},
		{"--kube-apiserver-arg=--v=2"},
	} {
		if _, err := Parse(args, none); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}
