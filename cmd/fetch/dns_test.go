package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestNameServers checks --doh-url and --dns-servers with dnsdist and unbound.
func TestNameServers(t *testing.T) {
	site := peer.Nginx(t, peer.NginxOptions{Server: "location /to { return 302 http://$arg_host/; }"})
	site.Put("hello", []byte("hello\n"))
	_, port, _ := strings.Cut(site.Addr, ":")
	s := peer.DNS(t, "site.test. A 127.0.0.1", "meta.test. A 169.254.169.254", "public.test. A 192.0.2.7", "six.test. AAAA ::1")
	over := []string{"--doh-url", "https://" + s.TLSAddr + "/dns-query", "--cacert", s.Cert.File}
	plain := []string{"--dns-servers", s.Addr}
	url := "http://site.test:" + port
	for _, c := range []struct {
		name   string
		args   []string
		url    string
		code   int
		stderr string
	}{
		{"DoH", over, url + "/hello", 0, ""},
		{"DoH, not verified", []string{"--doh-url", over[1], "--doh-insecure"}, url + "/hello", 0, ""},
		{"DoH, unknown authority", over[:2], url + "/hello", 5, "DNS over HTTPS for site.test"},
		{"DoH, -k is not for DNS", []string{"--doh-url", over[1], "-k"}, url + "/hello", 5, "or --doh-insecure"},
		{"DoH, no such name", over, "http://none.test/", 4, "no such host"},
		{"DoH, metadata service", over, "http://meta.test/", 9, "metadata"},
		{"DoH, redirect to a metadata service", over, url + "/to?host=meta.test", 9, "metadata"},
		{"DoH, other family", append([]string{"-4"}, over...), "http://six.test:" + port + "/hello", 4, ""},
		{"DoH, no https", []string{"--doh-url", "http://" + s.Addr}, url, 2, "https"},
		{"DoH, server answers no DNS", []string{"--doh-url", "https://" + site.Addr + "/"}, url, 5, ""},
		{"DoH, interface", append([]string{"--dns-interface", "lo"}, over...), url + "/hello", 0, ""},
		{"DoH, address of another machine", append([]string{"--dns-ipv4-addr", "192.0.2.9"}, over...), url + "/hello", 4, "192.0.2.9"},
		{"servers", plain, url + "/hello", 0, ""},
		{"servers, local address", append([]string{"--dns-ipv4-addr", "127.0.0.1"}, plain...), url + "/hello", 0, ""},
		{"servers, interface", append([]string{"--dns-interface", "lo"}, plain...), url + "/hello", 0, ""},
		{"servers, no such interface", append([]string{"--dns-interface", "none0"}, plain...), url + "/hello", 2, "none0"},
		{"servers, no such name", plain, "http://none.test/", 4, ""},
		{"servers, metadata service", plain, "http://meta.test/", 9, "metadata"},
		{"servers, no address", []string{"--dns-servers", "x"}, url, 2, "not an address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			code := app.Run(append([]string{"-q", "--noproxy", "*", "--retry", "0", c.url}, c.args...), strings.NewReader(""), &out, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.stderr) || code == 0 && out.String() != "hello\n" {
				t.Errorf("exit code %d, want %d: %q, %s", code, c.code, &out, &stderr)
			}
		})
	}
}
