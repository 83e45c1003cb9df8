package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestVerboseSession checks that -v prints both directions of an ftp session
// without the password. For a proxy, -v prints the requests to the proxy.
func TestVerboseSession(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{})
	s.PutHome("mine.txt", []byte("mine\n"))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("mine\n"))
	}))
	defer proxy.Close()
	url := "ftp://" + peer.User + ":" + peer.Password + "@" + s.Addr + "/mine.txt"
	for _, test := range []struct {
		name       string
		args, want []string
		forbidden  []string
	}{
		{"direct", nil, []string{"< 220 (vsFTPd ", "\n> USER " + peer.User + "\n< 331 ", "\n> PASS ***\n< 230 ",
			"\n> RETR mine.txt\n< 150 ", "\n< 226 "}, []string{"Content-Length", "mine\n< "}},
		{"with a proxy", []string{"-x", proxy.URL}, []string{"> GET ", "\n< HTTP/1.1 200 OK\n"}, []string{"USER"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			args := append([]string{"--no-config", "-v", url}, test.args...)
			if code := app.Run(args, strings.NewReader(""), &out, &stderr); code != 0 || out.String() != "mine\n" {
				t.Errorf("got exit code %d and output %q", code, &out)
			}
			contains(t, stderr.String(), test.want...)
			for _, forbidden := range append(test.forbidden, peer.Password) {
				if strings.Contains(stderr.String(), forbidden) {
					t.Errorf("unexpected %q in\n%s", forbidden, &stderr)
				}
			}
		})
	}
}
