package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// An authority is a certificate authority whose files are in a folder: ca.pem,
// server.pem, client.pem, and one file for each format of the client's key.
type authority struct {
	dir    string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	server *peer.Cert
	leaf   *x509.Certificate // of server
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, _ = x509.ParseCertificate(der)
	a.write(t, "ca.pem", "CERTIFICATE", der)
	a.leaf = a.issue(t, 2, "server")
	a.issue(t, 3, "client")
	a.server = &peer.Cert{File: a.file("server.pem"), KeyFile: a.file("server.key")}
	if a.server.TLS, err = tls.LoadX509KeyPair(a.server.File, a.server.KeyFile); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) write(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(a.file(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
}

// issue writes the certificate and the key of localhost to NAME.pem and
// NAME.key.
func (a *authority) issue(t *testing.T, serial int64, name string) *x509.Certificate {
	t.Helper()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".pem", "CERTIFICATE", der)
	keyDER, _ := x509.MarshalPKCS8PrivateKey(key)
	a.write(t, name+".key", "PRIVATE KEY", keyDER)
	cert, _ := x509.ParseCertificate(der)
	return cert
}

// revoke writes a list that revokes the certificates with the given numbers.
func (a *authority) revoke(t *testing.T, name string, next time.Time, serials ...int64) {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: next.Add(-24 * time.Hour), NextUpdate: next}
	for _, n := range serials {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: big.NewInt(n), RevocationTime: l.ThisUpdate})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, a.cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name, "X509 CRL", der)
}

// status returns an OCSP response for the certificate of the server.
func (a *authority) status(t *testing.T, status int, next time.Time, signer crypto.Signer) []byte {
	t.Helper()
	der, err := ocsp.CreateResponse(a.cert, a.cert, ocsp.Response{
		Status: status, SerialNumber: a.leaf.SerialNumber, ThisUpdate: next.Add(-24 * time.Hour), NextUpdate: next,
		RevokedAt: next.Add(-24 * time.Hour),
	}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// openssl runs the program openssl in the folder of the authority.
func (a *authority) openssl(t *testing.T, args ...string) {
	t.Helper()
	c := exec.Command(peer.Need(t, "openssl", "openssl"), args...)
	c.Dir = a.dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("openssl %q: %v: %s", args, err, out)
	}
}

// A tlsCase is a command line, its exit code, and a part of its messages.
type tlsCase struct {
	name   string
	args   []string
	code   int
	stderr string
}

func runTLSCases(t *testing.T, dir string, url string, cases []tlsCase) {
	t.Helper()
	t.Chdir(dir)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			args := append([]string{"-q", "--retry", "0"}, c.args...)
			code := app.Run(append(args, url), strings.NewReader(""), &out, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("exit code %d, want %d; messages without %q: %s", code, c.code, c.stderr, &stderr)
			}
			if code == 0 && out.String() != "hello\n" {
				t.Errorf("got %q", &out)
			}
			if strings.Contains(stderr.String(), "open sesame") {
				t.Errorf("the passphrase is in the messages: %s", &stderr)
			}
		})
	}
}

// TestClientCertificates checks the formats of client certificates and their
// keys with nginx, which requires a certificate.
func TestClientCertificates(t *testing.T) {
	a := newAuthority(t)
	const pass = "pass:open sesame"
	a.openssl(t, "pkcs8", "-topk8", "-in", "client.key", "-out", "pbes2.key", "-passout", pass)
	a.openssl(t, "ec", "-aes256", "-in", "client.key", "-out", "legacy.key", "-passout", pass)
	a.openssl(t, "x509", "-in", "client.pem", "-outform", "DER", "-out", "client.der")
	a.openssl(t, "pkcs8", "-topk8", "-nocrypt", "-in", "client.key", "-outform", "DER", "-out", "key.der")
	a.openssl(t, "pkcs12", "-export", "-in", "client.pem", "-inkey", "client.key", "-out", "client.p12", "-passout", pass)
	a.openssl(t, "pkcs12", "-export", "-in", "client.pem", "-inkey", "client.key", "-out", "open.p12", "-passout", "pass:")
	cert, _ := os.ReadFile(a.file("client.pem"))
	key, _ := os.ReadFile(a.file("pbes2.key"))
	if err := os.WriteFile(a.file("both.pem"), append(cert, key...), 0o600); err != nil {
		t.Fatal(err)
	}
	s := peer.Nginx(t, peer.NginxOptions{TLS: true, Cert: a.server,
		Server: "ssl_client_certificate " + a.file("ca.pem") + "; ssl_verify_client on;"})
	s.Put("hello", []byte("hello\n"))
	runTLSCases(t, a.dir, "https://"+s.TLSAddr+"/hello", []tlsCase{
		{"none", []string{"--cacert", "ca.pem"}, 8, "400"},
		{"PEM", []string{"--cacert", "ca.pem", "--cert", "client.pem", "--key", "client.key"}, 0, ""},
		{"DER", []string{"--cacert", "ca.pem", "--cert-type", "DER", "--cert", "client.der", "--key", "key.der"}, 0, ""},
		{"PKCS8", []string{"--cacert", "ca.pem", "--cert", "client.pem", "--key", "pbes2.key", "--pass", "open sesame"}, 0, ""},
		{"traditional", []string{"--cacert", "ca.pem", "--cert", "client.pem", "--key", "legacy.key", "--pass", "open sesame"}, 0, ""},
		{"one file", []string{"--cacert", "ca.pem", "--cert", "both.pem", "--pass", "open sesame"}, 0, ""},
		{"passphrase after a colon", []string{"--cacert", "ca.pem", "--cert", "both.pem:open sesame"}, 0, ""},
		{"PKCS12", []string{"--cacert", "ca.pem", "--cert-type", "P12", "--cert", "client.p12", "--pass", "open sesame"}, 0, ""},
		{"PKCS12 without a passphrase", []string{"--cacert", "ca.pem", "--cert", "open.p12"}, 0, ""},
		{"wrong passphrase", []string{"--cacert", "ca.pem", "--cert", "both.pem", "--pass", "wrong"}, 3, "wrong passphrase"},
		{"wrong passphrase, PKCS12", []string{"--cacert", "ca.pem", "--cert", "client.p12", "--pass", "wrong"}, 3, "password incorrect"},
		{"no passphrase", []string{"--cacert", "ca.pem", "--cert", "client.p12"}, 3, "no terminal to ask for it; use --pass"},
		{"key of another certificate", []string{"--cacert", "ca.pem", "--cert", "client.pem", "--key", "server.key"}, 3, "private key"},
		{"folder", []string{"--capath", ".", "--cert", "client.pem", "--key", "client.key"}, 0, ""},
		{"folder without certificates", []string{"--capath", t.TempDir()}, 2, "contains no certificate"},
		{"system and file", []string{"--ca-native", "--cacert", "ca.pem", "--cert", "client.pem", "--key", "client.key"}, 0, ""},
		{"missing file", []string{"--cacert", "none.pem"}, 3, "none.pem"},
		{"mirror without a passphrase", []string{"mirror", "--output-dir", t.TempDir(), "--cert", "both.pem"}, 3, "use --pass"},
	})
}

// TestRevocation checks --crlfile with nginx.
func TestRevocation(t *testing.T) {
	a := newAuthority(t)
	tomorrow := time.Now().Add(24 * time.Hour)
	a.revoke(t, "none.crl", tomorrow, 3)
	a.revoke(t, "revoked.crl", tomorrow, 3, 2)
	a.revoke(t, "expired.crl", time.Now().Add(-time.Hour))
	newAuthority(t).revoke(t, "other.crl", tomorrow)
	other := newAuthority(t)
	other.revoke(t, "other.crl", tomorrow)
	s := peer.Nginx(t, peer.NginxOptions{TLS: true, Cert: a.server})
	s.Put("hello", []byte("hello\n"))
	runTLSCases(t, a.dir, "https://"+s.TLSAddr+"/hello", []tlsCase{
		{"not revoked", []string{"--cacert", "ca.pem", "--crlfile", "none.crl"}, 0, ""},
		{"revoked", []string{"--cacert", "ca.pem", "--crlfile", "revoked.crl"}, 5, "revoked"},
		{"revoked, not verified", []string{"-k", "--crlfile", "revoked.crl"}, 0, ""},
		{"expired list", []string{"--cacert", "ca.pem", "--crlfile", "expired.crl"}, 5, "no valid list"},
		{"list of another authority", []string{"--cacert", "ca.pem", "--crlfile", other.file("other.crl")}, 5, "no valid list"},
		{"no list", []string{"--cacert", "ca.pem", "--crlfile", "ca.pem"}, 2, "no certificate revocation list"},
	})
}

// TestStapledStatus checks --cert-status with nginx.
func TestStapledStatus(t *testing.T) {
	a := newAuthority(t)
	tomorrow := time.Now().Add(24 * time.Hour)
	stranger, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	for _, c := range []struct {
		name     string
		response []byte
		code     int
		stderr   string
	}{
		{"none", nil, 5, "no OCSP response"},
		{"good", a.status(t, ocsp.Good, tomorrow, a.key), 0, ""},
		{"revoked", a.status(t, ocsp.Revoked, tomorrow, a.key), 5, "revoked"},
		{"unknown", a.status(t, ocsp.Unknown, tomorrow, a.key), 5, "does not know"},
		{"expired", a.status(t, ocsp.Good, time.Now().Add(-time.Hour), a.key), 5, "has expired"},
		{"wrong signature", a.status(t, ocsp.Good, tomorrow, stranger), 5, "OCSP response"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := peer.NginxOptions{TLS: true, Cert: a.server}
			if c.response != nil {
				file := filepath.Join(t.TempDir(), "ocsp.der")
				if err := os.WriteFile(file, c.response, 0o644); err != nil {
					t.Fatal(err)
				}
				o.Server = "ssl_stapling on; ssl_stapling_file " + file + ";"
			}
			s := peer.Nginx(t, o)
			s.Put("hello", []byte("hello\n"))
			runTLSCases(t, a.dir, "https://"+s.TLSAddr+"/hello", []tlsCase{
				{"required", []string{"--cacert", "ca.pem", "--cert-status"}, c.code, c.stderr},
				{"not required", []string{"--cacert", "ca.pem"}, 0, ""},
			})
		})
	}
}

// TestProxyCertificates checks the flags for https proxies with nginx, which
// forwards requests for addresses and requires a client certificate.
func TestProxyCertificates(t *testing.T) {
	a := newAuthority(t)
	a.openssl(t, "pkcs8", "-topk8", "-in", "client.key", "-out", "pbes2.key", "-passout", "pass:open sesame")
	a.revoke(t, "revoked.crl", time.Now().Add(24*time.Hour), 2)
	site := peer.Nginx(t, peer.NginxOptions{})
	site.Put("hello", []byte("hello\n"))
	s := peer.Nginx(t, peer.NginxOptions{TLS: true, Cert: a.server, Server: "location / { proxy_pass http://$http_host$request_uri; } " +
		"ssl_client_certificate " + a.file("ca.pem") + "; ssl_verify_client on;"})
	proxy := func(args ...string) []string { return append(args, "--noproxy", "", "-x", "https://"+s.TLSAddr) }
	runTLSCases(t, a.dir, "http://"+site.Addr+"/hello", []tlsCase{
		{"certificate", proxy("--proxy-cacert", "ca.pem", "--proxy-cert", "client.pem", "--proxy-key", "client.key"), 0, ""},
		{"passphrase", proxy("--proxy-cacert", "ca.pem", "--proxy-cert", "client.pem", "--proxy-key", "pbes2.key", "--proxy-pass", "open sesame"), 0, ""},
		{"no certificate", proxy("--proxy-cacert", "ca.pem"), 8, "400"},
		{"certificate of the target only", proxy("--proxy-cacert", "ca.pem", "--cert", "client.pem", "--key", "client.key"), 8, "400"},
		{"files of the target", proxy("--cacert", "ca.pem", "--cert", "client.pem", "--key", "client.key"), 8, "400"},
		{"pinned key of the target", proxy("--cacert", "ca.pem", "--pinnedpubkey", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), 8, "400"},
		{"unknown authority", proxy("--proxy-cert", "client.pem", "--proxy-key", "client.key"), 5, ""},
		{"not verified", proxy("--proxy-insecure", "--proxy-cert", "client.pem", "--proxy-key", "client.key"), 0, ""},
		{"revoked", proxy("--proxy-cacert", "ca.pem", "--proxy-crlfile", "revoked.crl", "--proxy-cert", "client.pem", "--proxy-key", "client.key"), 5, "revoked"},
	})
}

// TestTLSVersions checks --tls-max and --tlsv1.N.
func TestTLSVersions(t *testing.T) {
	server := func(from, to uint16) string {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello\n")) }))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{MinVersion: from, MaxVersion: to}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL + "/"
	}
	old, current := server(tls.VersionTLS10, tls.VersionTLS11), server(tls.VersionTLS12, tls.VersionTLS13)
	runTLSCases(t, t.TempDir(), old, []tlsCase{
		{"old server", []string{"-k"}, 5, ""},
		{"old server, permitted", []string{"-k", "--tlsv1.1", "-v"}, 0, "SSL connection using TLSv1.1"},
		{"old server, all versions", []string{"-k", "-1"}, 0, ""},
		{"old server, maximum", []string{"-k", "--tlsv1.0", "--tls-max", "1.0", "-v"}, 0, "SSL connection using TLSv1.0"},
		{"minimum above the maximum", []string{"-k", "--tlsv1.3", "--tls-max", "1.2"}, 2, "--tls-max"},
		{"unknown version", []string{"-k", "--tls-max", "1.4"}, 2, "1.4"},
	})
	runTLSCases(t, t.TempDir(), current, []tlsCase{
		{"maximum", []string{"-k", "--tls-max", "1.2", "-v"}, 0, "SSL connection using TLSv1.2"},
		{"default maximum", []string{"-k", "--tls-max", "default", "-v"}, 0, "SSL connection using TLSv1.3 / TLS_AES_128_GCM_SHA256 / X25519"},
		{"server above the maximum", []string{"-k", "--tlsv1.0", "--tls-max", "1.1"}, 5, ""},
	})
}

// TestKeyLog checks that the secrets of connections are written to the file of
// SSLKEYLOGFILE, and that a wrong file name does not stop the command.
func TestKeyLog(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello\n")) }))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "keys")
	t.Setenv("SSLKEYLOGFILE", file)
	runTLSCases(t, t.TempDir(), s.URL, []tlsCase{{"file", []string{"-k"}, 0, ""}})
	if text, err := os.ReadFile(file); err != nil || !bytes.Contains(text, []byte("CLIENT_TRAFFIC_SECRET_0 ")) {
		t.Errorf("key log %q, %v", text, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key log: %v, %v", info.Mode(), err)
	}
	t.Setenv("SSLKEYLOGFILE", filepath.Join(file, "x"))
	runTLSCases(t, t.TempDir(), s.URL, []tlsCase{{"wrong name", []string{"-k"}, 0, "SSLKEYLOGFILE"}})
	t.Setenv("SSLKEYLOGFILE", os.DevNull)
	runTLSCases(t, t.TempDir(), s.URL, []tlsCase{{"device", []string{"-k"}, 0, ""}})
	if os.Geteuid() != 0 {
		return
	}
	const other = 65534
	foreign, link := filepath.Join(t.TempDir(), "foreign"), filepath.Join(t.TempDir(), "link")
	err := errors.Join(os.WriteFile(foreign, nil, 0o666), os.Chown(foreign, other, other), os.Symlink(file, link), os.Lchown(link, other, other))
	before, err2 := os.ReadFile(file)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for name, want := range map[string]string{foreign: "", link: string(before)} {
		t.Setenv("SSLKEYLOGFILE", name)
		runTLSCases(t, t.TempDir(), s.URL, []tlsCase{{"another user", []string{"-k"}, 0, "belongs to another user"}})
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s of another user: %q, %v", name, text, err)
		}
	}
}
