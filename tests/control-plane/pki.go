package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	caCert                  = "ca.crt"
	servingCert             = "apiserver.crt"
	servingKey              = "apiserver.key"
	serviceAccountKey       = "service-account.key"
	serviceAccountPublicKey = "service-account.pub"
	adminConfig             = "kubeconfig"
	controllerManagerConfig = "controller-manager.kubeconfig"
	schedulerConfig         = "scheduler.kubeconfig"
	nodeConfig              = "node.kubeconfig"

	validity = 365 * 24 * time.Hour
)

// authority signs the instance's certificates. Its key is never written down:
// who holds it could make himself an administrator.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// writeCredentials fills the directory with all certificates, keys and
// kubeconfigs, readable by their owner only.
func writeCredentials(o *options) error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	write := func(name string, data []byte) error {
		return os.WriteFile(filepath.Join(o.dir, name), data, 0o600)
	}
	if err := write(caCert, ca.pem()); err != nil {
		return err
	}

	certPEM, keyPEM, err := ca.issue(servingTemplate(o))
	if err != nil {
		return err
	}
	if err := write(servingCert, certPEM); err != nil {
		return err
	}
	if err := write(servingKey, keyPEM); err != nil {
		return err
	}

	key, keyPEM, err := newKey()
	if err != nil {
		return err
	}
	if err := write(serviceAccountKey, keyPEM); err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: keyutil.PublicKeyBlockType, Bytes: public})
	if err := write(serviceAccountPublicKey, publicPEM); err != nil {
		return err
	}

	for _, client := range []struct {
		file, user string
		groups     []string
	}{
		{adminConfig, "admin", []string{"system:masters"}},
		{controllerManagerConfig, "system:kube-controller-manager", nil},
		{schedulerConfig, "system:kube-scheduler", nil},
		{nodeConfig, "system:node:" + nodeName, []string{"system:nodes"}},
	} {
		config, err := ca.kubeconfig(o.server(), client.user, client.groups)
		if err != nil {
			return err
		}
		// WriteToFile creates with mode 0600.
		if err := clientcmd.WriteToFile(*config, filepath.Join(o.dir, client.file)); err != nil {
			return err
		}
	}
	return nil
}

func servingTemplate(o *options) x509.Certificate {
	names, ips := splitNames(o.tlsNames)
	ips = append(ips, net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 96, 0, 1))
	if ip := net.ParseIP(o.bind); ip != nil && !ip.IsUnspecified() && !ip.IsLoopback() {
		ips = append(ips, ip)
	}
	return x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    append(names, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"),
		IPAddresses: ips,
	}
}

func newAuthority() (*authority, error) {
	key, _, err := newKey()
	if err != nil {
		return nil, err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "control-plane"}, key)
	if err != nil {
		return nil, err
	}
	return &authority{cert: ca, key: key}, nil
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	// PKCS #8, because not every client's TLS library reads "EC PRIVATE KEY".
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: keyutil.PrivateKeyBlockType, Bytes: der}), nil
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: a.cert.Raw})
}

func (a *authority) issue(template x509.Certificate) (certPEM, keyPEM []byte, err error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.NotBefore = a.cert.NotBefore
	template.NotAfter = time.Now().Add(validity)
	der, err := x509.CreateCertificate(rand.Reader, &template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der}), keyPEM, nil
}

func (a *authority) kubeconfig(server, user string, groups []string) (*clientcmdapi.Config, error) {
	certPEM, keyPEM, err := a.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	const cluster = "control-plane"
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: a.pem()}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: certPEM, ClientKeyData: keyPEM}
	config.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: user}
	config.CurrentContext = cluster
	return config, nil
}
