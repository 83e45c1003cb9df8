package download_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"golang.org/x/sys/unix"
)

// TestAttributes checks the extended attributes of a file that --xattr sets. They
// contain no password.
func TestAttributes(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path == "/long" {
			w.Header().Set("Content-Type", "text/plain; x="+strings.Repeat("x", 70_000))
		}
		w.Write([]byte("x"))
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "file")
	var stderr bytes.Buffer
	code := app.Run([]string{"-q", "--xattr", "-o", file, strings.Replace(s.URL, "//", "//user:secret@", 1) + "/a?b"}, strings.NewReader(""), &bytes.Buffer{}, &stderr)
	value := make([]byte, 200)
	n, err := unix.Getxattr(file, "user.xdg.origin.url", value)
	if errors.Is(err, unix.ENOTSUP) {
		t.Skip("the file system has no extended attributes")
	}
	if code != 0 || err != nil || string(value[:n]) != s.URL+"/a?b" {
		t.Errorf("exit code %d, %q, %v: %s", code, value[:max(n, 0)], err, &stderr)
	}
	if n, err = unix.Getxattr(file, "user.mime_type", value); err != nil || string(value[:n]) != "text/plain" {
		t.Errorf("media type %q, %v", value[:max(n, 0)], err)
	}
	code = app.Run([]string{"-q", "--xattr", "-o", file, s.URL + "/long"}, strings.NewReader(""), &bytes.Buffer{}, &stderr)
	if n, err = unix.Getxattr(file, "user.xdg.origin.url", value); code != 0 || err != nil || string(value[:n]) != s.URL+"/long" {
		t.Errorf("long media type: exit code %d, %q, %v: %s", code, value[:max(n, 0)], err, &stderr)
	}
	for _, output := range []string{"-", "/dev/null"} { // have no attributes
		if code := app.Run([]string{"-q", "--xattr", "-o", output, s.URL + "/a"}, strings.NewReader(""), &bytes.Buffer{}, &stderr); code != 0 {
			t.Errorf("-o %s: exit code %d: %s", output, code, &stderr)
		}
	}
}
