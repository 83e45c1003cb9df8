package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/peer"
)

// TestConversation: -v shows what both sides of an ftp session say, but not the
// password; of what a proxy fetches, what the proxy is asked for.
func TestConversation(t *testing.T) {
	s := peer.Vsftpd(t, peer.FTPOptions{})
	s.PutHome("mine.txt", []byte("mine\n"))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("mine\n")) }))
	defer proxy.Close()
	url := "ftp://" + peer.User + ":" + peer.Password + "@" + s.Addr + "/mine.txt"
	for _, test := range []struct {
		name       string
		args, want []string
		never      []string
	}{
		{"direct", nil, []string{"< 220 (vsFTPd ", "\n> USER " + peer.User + "\n< 331 ", "\n> PASS ***\n< 230 ", "\n> RETR mine.txt\n< 150 ", "\n< 226 "}, []string{"Content-Length", "mine\n< "}},
		{"by a proxy", []string{"-x", proxy.URL}, []string{"> GET ", "\n< HTTP/1.1 200 OK\n"}, []string{"USER"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, said bytes.Buffer
			if code := run(append([]string{"--no-config", "-v", url}, test.args...), strings.NewReader(""), &out, &said); code != 0 || out.String() != "mine\n" {
				t.Errorf("exit code %d, %q", code, &out)
			}
			contains(t, said.String(), test.want...)
			for _, never := range append(test.never, peer.Password) {
				if strings.Contains(said.String(), never) {
					t.Errorf("%q is in\n%s", never, &said)
				}
			}
		})
	}
}
