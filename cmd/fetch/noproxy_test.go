package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestNoProxy checks that --noproxy replaces NO_PROXY for every scheme and
// every kind of proxy, and that an empty list disables NO_PROXY.
func TestNoProxy(t *testing.T) {
	var received []string
	serve := func(name string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			received = append(received, name)
			w.WriteHeader(http.StatusForbidden)
		}))
		t.Cleanup(s.Close)
		return s
	}
	origin, proxy := serve("origin"), serve("proxy")
	ftp := strings.Replace(origin.URL, "http:", "ftp:", 1) + "/x"
	gopher := strings.Replace(origin.URL, "http:", "gopher:", 1) + "/1"
	for _, c := range []struct {
		name, variable, exempt string
		args                   []string
		want                   string
	}{
		{"list of the environment", "http_proxy", "127.0.0.1", []string{origin.URL}, "origin"},
		{"empty list", "http_proxy", "127.0.0.1", []string{"--noproxy", "", origin.URL}, "proxy"},
		{"empty list after an equals sign", "http_proxy", "*", []string{"--noproxy=", origin.URL}, "proxy"},
		{"empty list and lower case variable", "all_proxy", "*", []string{"--noproxy", "", origin.URL}, "proxy"},
		{"another list", "http_proxy", "127.0.0.1", []string{"--noproxy", "192.0.2.1", origin.URL}, "proxy"},
		{"the same list", "http_proxy", "", []string{"--noproxy", "127.0.0.1", origin.URL}, "origin"},
		{"wildcard", "http_proxy", "", []string{"--noproxy", "*", origin.URL}, "origin"},
		{"proxy of a flag", "", "127.0.0.1", []string{"-x", proxy.URL, origin.URL}, "origin"},
		{"proxy of a flag, empty list", "", "127.0.0.1", []string{"-x", proxy.URL, "--noproxy", "", origin.URL},
			"proxy"},
		{"ftp, empty list", "ftp_proxy", "127.0.0.1", []string{"--noproxy", "", ftp}, "proxy"},
		{"ftp and proxy of a flag, empty list", "", "*", []string{"-x", proxy.URL, "--noproxy", "", ftp}, "proxy"},
		{"gopher, empty list", "gopher_proxy", "127.0.0.1", []string{"--noproxy", "", gopher}, "proxy"},
		{"two flags", "http_proxy", "127.0.0.1", []string{"--noproxy", "", "--noproxy", "*", origin.URL}, "origin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{"http_proxy", "all_proxy", "ftp_proxy", "gopher_proxy", "no_proxy",
				"NO_PROXY"} {
				t.Setenv(name, "")
			}
			if c.variable != "" {
				t.Setenv(c.variable, proxy.URL)
			}
			if t.Setenv("NO_PROXY", c.exempt); strings.Contains(c.name, "lower case") {
				t.Setenv("no_proxy", c.exempt)
			}
			received = nil
			var out, stderr bytes.Buffer
			_, port, _ := strings.Cut(strings.TrimPrefix(origin.URL, "http://"), ":")
			args := []string{"-q", "--retry", "0", "-m", "5", "--allow-port", "ftp:" + port + ",gopher:" + port}
			app.Run(append(args, c.args...), strings.NewReader(""), &out, &stderr)
			if got := strings.Join(received, " "); got != c.want {
				t.Errorf("%s received the request, want %s: %s", got, c.want, &stderr)
			}
		})
	}
	t.Run("config.toml", func(t *testing.T) {
		t.Setenv("http_proxy", proxy.URL)
		t.Setenv("no_proxy", "*")
		home := t.TempDir()
		t.Setenv("XDG_CONFIG_HOME", home)
		if err := os.Mkdir(filepath.Join(home, "fetch"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "fetch", "config.toml"), []byte("noproxy = \"\"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		received = nil
		var out, stderr bytes.Buffer
		app.Run([]string{"--retry", "0", origin.URL}, strings.NewReader(""), &out, &stderr)
		if got := strings.Join(received, " "); got != "proxy" {
			t.Errorf("%s received the request, want proxy: %s", got, &stderr)
		}
	})
}
