package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFTPByProxy: an http proxy is asked for an ftp URL, however the
// environment names it, and for a tunnel where the URL or a flag wants
// encryption: the login is for the server alone.
func TestFTPByProxy(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.RequestURI
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
			asked = ""
			var out, said bytes.Buffer
			run(append([]string{"--no-config", "--retry", "0"}, test.args...), strings.NewReader(""), &out, &said)
			if asked != test.want {
				t.Errorf("the proxy was asked for %q, want %q", asked, test.want)
			}
		})
	}
}
