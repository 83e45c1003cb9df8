package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestFTPByProxy checks the requests for ftp URLs to an http proxy. If the URL
// or a flag requires encryption, fetch requests a tunnel, so that the proxy
// does not receive the login.
func TestFTPByProxy(t *testing.T) {
	var request string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request = r.Method + " " + r.RequestURI
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	const get, tunnel = "GET ftp://bob:pw@127.0.0.1/x", "CONNECT 127.0.0.1:21"
	for _, test := range []struct {
		variable, want string
		args           []string
	}{
		{"ftp_proxy", get, []string{"ftp://bob:pw@127.0.0.1/x"}},
		{"FTP_PROXY", get, []string{"ftp://bob:pw@127.0.0.1/x"}},
		{"all_proxy", get, []string{"ftp://bob:pw@127.0.0.1/x"}},
		{"", get, []string{"--ssl", "-x", proxy.URL, "ftp://bob:pw@127.0.0.1/x"}},
		{"", tunnel, []string{"-p", "-x", proxy.URL, "ftp://bob:pw@127.0.0.1/x"}},
		{"", tunnel, []string{"--ssl-reqd", "-x", proxy.URL, "ftp://bob:pw@127.0.0.1/x"}},
		{"", tunnel, []string{"--ftp-ssl-control", "-x", proxy.URL, "ftp://bob:pw@127.0.0.1/x"}},
		{"", "CONNECT 127.0.0.1:990", []string{"-x", proxy.URL, "ftps://bob:pw@127.0.0.1/x"}},
		{"all_proxy", "CONNECT 127.0.0.1:990", []string{"ftps://bob:pw@127.0.0.1/x"}},
	} {
		t.Run(test.variable+test.want, func(t *testing.T) {
			if test.variable != "" {
				t.Setenv(test.variable, proxy.URL)
			}
			request = ""
			var out, stderr bytes.Buffer
			app.Run(append([]string{"--no-config", "--retry", "0"}, test.args...), strings.NewReader(""), &out, &stderr)
			if request != test.want {
				t.Errorf("the proxy received %q, want %q", request, test.want)
			}
		})
	}
}
