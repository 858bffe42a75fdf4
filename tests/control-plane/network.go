package main

import (
	"net"
	"os"
)

// ownNames returns what this machine, or container, is called in its network: its name and
// the addresses of its interfaces.
func ownNames() ([]string, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	names := []string{name}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && !network.IP.IsLoopback() {
			names = append(names, network.IP.String())
		}
	}
	return names, nil
}

// advertised returns an address of this machine that is not loopback, or loopback if there
// is no other: kube-apiserver refuses to publish "any address".
func advertised(bind string) string {
	if !net.ParseIP(bind).IsUnspecified() {
		return bind
	}
	names, err := ownNames()
	if err != nil {
		return "127.0.0.1"
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil && ip.To4() != nil {
			return name
		}
	}
	return "127.0.0.1"
}

// splitNames tells addresses from names, for a certificate.
func splitNames(all []string) (names []string, ips []net.IP) {
	for _, name := range all {
		if ip := net.ParseIP(name); ip != nil {
			ips = append(ips, ip)
		} else {
			names = append(names, name)
		}
	}
	return names, ips
}
