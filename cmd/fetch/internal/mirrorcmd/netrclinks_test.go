package mirrorcmd_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestMirrorNetrc checks that the logins of the netrc file are sent only to the
// servers of the seeds, whatever other servers link to.
func TestMirrorNetrc(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var logins []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if login := r.Header.Get("Authorization"); login != "" {
			mu.Lock()
			logins = append(logins, r.URL.Path+" "+login)
			mu.Unlock()
		}
		switch r.URL.Path {
		case "/style.css":
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, "p { background: url(image) }")
		case "/image":
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			http.NotFound(w, r)
		}
	}))
	defer other.Close()
	_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	seed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<link rel=stylesheet href=http://localhost:%s/style.css>", port)
	}))
	defer seed.Close()
	dir := t.TempDir()
	netrc := filepath.Join(dir, "netrc")
	commandtest.Put(t, netrc, "machine localhost login alice password secret\n")
	commandtest.Run(t, 8, "mirror", "--output-dir", filepath.Join(dir, "archive"), "--page-requisites", "--ignore-robots", "--delay", "0",
		"--netrc-file", netrc, seed.URL+"/")
	if len(logins) > 0 {
		t.Errorf("the login was sent: %s", strings.Join(logins, ", "))
	}
}
