package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTrustHint: an error of verification ends with the flags that help, in
// every scheme with TLS; other errors of TLS do not.
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
		exit int
		hint bool
	}{
		{"https", []string{"https://" + addr + "/"}, 5, true},
		{"https over HTTP/1.1", []string{"--http1.1", "https://" + addr + "/"}, 5, true},
		{"ftps", []string{"--allow-port", "ftps:" + port, "ftps://" + addr + "/x"}, 5, true},
		{"gophers", []string{"--allow-port", "gophers:" + port, "gophers://" + addr + "/"}, 5, true},
		{"nntps", []string{"--allow-port", "nntps:" + port, "nntps://" + addr + "/g/1"}, 5, true},
		{"imaps", []string{"--allow-port", "imaps:" + port, "imaps://" + addr + "/m"}, 5, true},
		{"https proxy", []string{"-x", "https://" + addr, "http://192.0.2.1/"}, 5, true},
		{"JSON", []string{"--error-json", "https://" + addr + "/"}, 5, true},
		{"mirror", []string{"mirror", "--output-dir", t.TempDir(), "https://" + addr + "/"}, 8, true},
		{"verification is off", []string{"-k", "--no-fail", "https://" + addr + "/"}, 0, false},
		{"another key than the pinned one", []string{"-k", "--pinnedpubkey", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "https://" + addr + "/"}, 5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, said bytes.Buffer
			args := append([]string{"-q", "--retry", "0"}, c.args...)
			if code := run(args, strings.NewReader(""), &out, &said); code != c.exit {
				t.Errorf("exit %d, want %d", code, c.exit)
			}
			if got := strings.Contains(said.String(), "--cacert FILE") && strings.Contains(said.String(), "or -k"); got != c.hint {
				t.Errorf("hint %v, want %v: %s", got, c.hint, &said)
			}
		})
	}
}
