package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestGatewayToken checks that neither a gateway nor a proxy that retrieves ftp
// URLs gets the token and the cookies for web servers.
func TestGatewayToken(t *testing.T) {
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		io.WriteString(w, "hello\n")
	}))
	defer s.Close()
	for _, args := range [][]string{
		{"--gateway", "wais=" + s.URL, "wais://wais.test/notes?x"},
		{"--gateway", "ftp=" + s.URL, "ftp://ftp.test/x"},
		{"-x", s.URL, "ftp://ftp.test/x"},
	} {
		got = nil
		runFetch(t, 0, append([]string{"--oauth2-bearer", "token", "-b", "a=b", "-A", "agent"}, args...)...)
		if got.Get("Authorization") != "" || got.Get("Cookie") != "" || got.Get("User-Agent") != "agent" {
			t.Errorf("%s: the gateway got %v", strings.Join(args, " "), got)
		}
	}
}
