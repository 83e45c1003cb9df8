package recordcmd_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPublic checks that a proxy for other machines requires the token, and that
// an upstream proxy receives the requests.
func TestPublic(t *testing.T) {
	dir := newDir(t)
	server := httptest.NewServer(http.HandlerFunc(web))
	defer server.Close()
	first := start(t, dir, "--warc", "first.warc.gz", "--listen", "0.0.0.0:0", "--public")
	_, port, _ := net.SplitHostPort(first.address)
	first.address = "127.0.0.1:" + port
	if code, text := get(t, first.client(""), server.URL+"/"); code != 407 || !strings.Contains(text, "token") {
		t.Errorf("without the token: %d %q", code, text)
	}
	if _, err := first.client("").Get("https://127.0.0.1:1/"); err == nil || !strings.Contains(err.Error(), "Proxy Authentication Required") {
		t.Errorf("a tunnel without the token: %v", err)
	}
	second := start(t, dir, "--warc", "second.warc.gz", "--proxy", "http://fetch:"+first.token+"@"+first.address)
	resp, err := second.client(second.token).Post(server.URL+"/form", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 || string(text) != "/form body" {
		t.Errorf("%s %q", resp.Status, text)
	}
	second.stop(syscall.SIGTERM)
	first.stop(syscall.SIGTERM)
	for _, name := range []string{"first.warc.gz", "second.warc.gz"} {
		if got := captures(t, filepath.Join(dir, name)); len(got) != 1 || got["POST "+server.URL+"/form"] == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}
