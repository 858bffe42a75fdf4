// Command client-go is client-go, as it takes part in `cargo xtask race`.
//
// `client-go describe` says what it is. `client-go queue CASE` runs one case of the race of
// the queues and prints its sample, one line of JSON, on stdout. What a case is stands in
// tests/peers/README.md, for this program and for controller-core's: whoever changes a case
// changes it in all of them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
)

// description says who this is.
type description struct {
	Subject string `json:"subject"`
	Version string `json:"version"`
}

// sample is what was measured in one case.
type sample struct {
	Case  string  `json:"case"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

func main() {
	line, err := answer(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func answer(arguments []string) (any, error) {
	switch {
	case len(arguments) == 1 && arguments[0] == "describe":
		version, err := clientGoVersion()
		return description{Subject: "client-go", Version: version}, err
	case len(arguments) == 2 && arguments[0] == "queue":
		unit, value, err := runQueue(arguments[1])
		return sample{Case: arguments[1], Unit: unit, Value: value}, err
	}
	return nil, errors.New("usage: client-go describe | client-go queue CASE")
}

func clientGoVersion() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/client-go" {
				return module.Version, nil
			}
		}
	}
	return "", errors.New("the binary does not say which client-go it holds")
}
