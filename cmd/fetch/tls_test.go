package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestTrustHint checks that certificate errors of every scheme name the flags
// that help. Other TLS errors do not name them.
func TestTrustHint(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	addr := s.Listener.Addr().String()
	_, port, _ := strings.Cut(addr, ":")
	for _, c := range []struct {
		name string
		args []string
		code int
		hint bool // about --cacert and -k
	}{
		{"https", []string{"https://" + addr + "/"}, 5, true},
		{"https over HTTP/1.1", []string{"--http1.1", "https://" + addr + "/"}, 5, true},
		{"ftps", []string{"--allow-port", "ftps:" + port, "ftps://" + addr + "/x"}, 5, true},
		{"gophers", []string{"--allow-port", "gophers:" + port, "gophers://" + addr + "/"}, 5, true},
		{"nntps", []string{"--allow-port", "nntps:" + port, "nntps://" + addr + "/g/1"}, 5, true},
		{"imaps", []string{"--allow-port", "imaps:" + port, "imaps://" + addr + "/m"}, 5, true},
		{"https proxy", []string{"-x", "https://" + addr, "http://192.0.2.1/"}, 5, false},
		{"https proxy and -k", []string{"-k", "-x", "https://" + addr, "http://192.0.2.1/"}, 5, false},
		{"JSON", []string{"--error-json", "https://" + addr + "/"}, 5, true},
		{"mirror", []string{"mirror", "--output-dir", t.TempDir(), "https://" + addr + "/"}, 8, true},
		{"certificate of another host", []string{"--resolve", "other.test:" + port + ":127.0.0.1", "https://other.test:" + port + "/"}, 5, false},
		{"verification disabled", []string{"-k", "--no-fail", "https://" + addr + "/"}, 0, false},
		{"pinned key differs", []string{"-k", "--pinnedpubkey", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
			"https://" + addr + "/"}, 5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			args := append([]string{"-q", "--retry", "0"}, c.args...)
			if code := app.Run(args, strings.NewReader(""), &out, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if got := strings.Contains(stderr.String(), "--cacert FILE") &&
				strings.Contains(stderr.String(), "or -k"); got != c.hint {
				t.Errorf("hint %v, want %v: %s", got, c.hint, &stderr)
			}
			if proxy := strings.Contains(stderr.String(), "or --proxy-insecure"); proxy != strings.HasPrefix(c.name, "https proxy") {
				t.Errorf("hint for proxies %v: %s", proxy, &stderr)
			}
		})
	}
}
