package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestHTTP3Records uses servers that HTTPS records in DNS announce.
func TestHTTP3Records(t *testing.T) {
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"own.test"}})
	udp := peer.NginxHTTP3(t, peer.HTTP3Options{NoTCP: true, Cert: cert})
	udp.Put("hello", []byte("hello\n"))
	tcp := peer.Nginx(t, peer.NginxOptions{HTTP2: true, Cert: cert})
	tcp.Put("hello", []byte("hello\n"))
	port, other := portOf(tcp.TLSAddr), portOf(udp.UDPAddr)
	var records []string
	for name, record := range map[string]string{
		"other": fmt.Sprintf("1 own.test. alpn=h3 port=%s", other), // the certificate names own.test only
		"own":   fmt.Sprintf("1 . alpn=h3 port=%s", other),
	} {
		records = append(records, fmt.Sprintf("_%s._https.%s.test. HTTPS %s", port, name, record), name+".test. A 127.0.0.1")
	}
	dns := peer.DNS(t, records...)
	url := "https://own.test:" + port + "/hello"
	doh := []string{"--doh-url", "https://" + dns.TLSAddr + "/dns-query", "--doh-insecure", "-w", "%{http_version}"}
	patient := []string{"--happy-eyeballs-timeout-ms", "600000", "--http3"} // on a busy machine, TCP would win
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string
	}{
		{"other port", append(patient, url), 0, "hello\n3"},
		{"only", []string{"--http3-only", url}, 0, "hello\n3"},
		{"without --http3", []string{url}, 0, "hello\n2"},
		{"HTTP/1.1", []string{"--http1.1", "--http3", url}, 0, "hello\n1.1"},
		{"certificate of another name", []string{"--http3", "https://other.test:" + port + "/hello"}, 5, ""},
		{"certificate of another name, only", []string{"--http3-only", "https://other.test:" + port + "/hello"}, 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, messages := fetchHTTP3(cert, append(doh, c.args...)...)
			if code != c.code || out != c.out {
				t.Errorf("exit code %d, %q, %s", code, out, messages)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "alt-svc")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, messages := fetchHTTP3(cert, slices.Concat(doh, patient, []string{"--alt-svc", file, url})...); code != 0 || out != "hello\n3" {
		t.Errorf("--alt-svc: exit code %d, %q, %s", code, out, messages)
	}
}

func portOf(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }
