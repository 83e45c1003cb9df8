package faultnet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"testing"
	"time"
)

// Certs contains a certificate authority and server certificates for tests.
// They are valid today and in the year 2000, the initial time of a synctest
// bubble.
type Certs struct {
	Pool *x509.CertPool // trusts the authority

	good, wrong, expired, selfSigned tls.Certificate
}

// NewCerts creates an authority and certificates for the given host names and
// addresses.
func NewCerts(t testing.TB, hosts ...string) *Certs {
	t.Helper()
	day := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	ca := certify(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "faultnet"}, NotBefore: day(1990), NotAfter: day(2100),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	leaf := func(hosts []string, until time.Time, parent *tls.Certificate) tls.Certificate {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, NotBefore: day(1990), NotAfter: until,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		for _, host := range hosts {
			if _, err := netip.ParseAddr(host); err == nil {
				template.IPAddresses = append(template.IPAddresses, net.ParseIP(host))
			} else {
				template.DNSNames = append(template.DNSNames, host)
			}
		}
		return certify(t, template, parent)
	}
	c := &Certs{
		Pool:       x509.NewCertPool(),
		good:       leaf(hosts, day(2100), &ca),
		wrong:      leaf([]string{"wrong.invalid"}, day(2100), &ca),
		expired:    leaf(hosts, day(1999), &ca),
		selfSigned: leaf(hosts, day(2100), nil),
	}
	c.Pool.AddCert(ca.Leaf)
	return c
}

// certify returns a certificate that authority has signed. If authority is nil,
// the certificate is self-signed.
func certify(t testing.TB, template *x509.Certificate, authority *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := template, any(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// TLS returns a Step that starts TLS with a trusted certificate and the given
// ALPN protocols. Later steps use the encrypted connection.
func (c *Certs) TLS(protocols ...string) Step { return startTLS("tls", c.good, protocols...) }

// WrongHost returns a Step that starts TLS with a certificate for another host.
func (c *Certs) WrongHost() Step { return startTLS("tls wrong", c.wrong) }

// Expired returns a Step that starts TLS with a certificate that expired in
// 1999.
func (c *Certs) Expired() Step { return startTLS("tls expired", c.expired) }

// SelfSigned returns a Step that starts TLS with an untrusted, self-signed
// certificate.
func (c *Certs) SelfSigned() Step { return startTLS("tls self-signed", c.selfSigned) }

func startTLS(name string, cert tls.Certificate, protocols ...string) Step {
	return Do(name, func(c *Conn) error {
		plain := c.in.takenBytes()
		conn := tls.Server(inboxConn{c.raw, c.in}, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protocols})
		if err := conn.Handshake(); err != nil {
			return errEnd // the client rejects the certificate, as it should
		}
		c.startLayer(conn, plain)
		return nil
	})
}

// startLayer makes later steps use conn, a TLS or compressed connection that
// reads from the inbox of c. The parameter plain contains the bytes that the
// client sent before this layer started.
func (c *Conn) startLayer(conn net.Conn, plain []byte) {
	in := newInbox()
	c.mu.Lock()
	c.before, c.top, c.in = append(c.before, plain...), conn, in
	c.mu.Unlock()
	c.server.tasks.Go(func() { in.fill(conn) })
}

// inboxConn is a connection that reads from its inbox.
type inboxConn struct {
	net.Conn
	in *inbox
}

func (c inboxConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// TLSStall returns a Step that reads the ClientHello and then sends nothing.
func TLSStall() Step {
	return Do("tls stall", func(c *Conn) error {
		if err := c.hello(); err != nil {
			return err
		}
		return Stall().do(c)
	})
}

// TLSCut returns a Step that reads the ClientHello, sends the start of a TLS
// record and closes the connection.
func TLSCut() Step {
	return Do("tls cut", func(c *Conn) error {
		if err := c.hello(); err != nil {
			return err
		}
		if err := c.write([]byte("\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03")); err != nil {
			return err
		}
		return Cut().do(c)
	})
}

// hello reads one TLS handshake record.
func (c *Conn) hello() error {
	const header = 5
	record, err := c.take(func(said []byte) (int, bool) {
		if len(said) < header {
			return 0, false
		}
		n := header + int(said[3])<<8 + int(said[4])
		return n, len(said) >= n
	})
	if err == nil && record[0] != 22 {
		return errors.New("client did not start TLS")
	}
	return err
}
