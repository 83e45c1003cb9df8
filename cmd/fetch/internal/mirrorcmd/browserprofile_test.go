//go:build linux

package mirrorcmd_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/base/chromium"
	"github.com/anyurl/fetch/internal/wire/cdp"
	"github.com/anyurl/fetch/internal/wire/mitm"
)

const loginCookie = "5ecret-of-the-login"

// A profileSite shows its pages only to the user of a login. It keeps the Cookie
// field of each request by host and path.
type profileSite struct {
	other string // URL of the same site under another host name

	mu      sync.Mutex
	cookies map[string]string
	ready   chan struct{} // closed by the request for /done
}

func (s *profileSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	s.mu.Lock()
	s.cookies[host+r.URL.Path] = r.Header.Get("Cookie")
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/login":
		w.Header().Add("Set-Cookie", "login="+loginCookie+"; Max-Age=86400; HttpOnly; Path=/")
		w.Header().Add("Set-Cookie", "session=until-the-end; Path=/")
		fmt.Fprint(w, "<script>fetch('/done')</script>")
	case r.URL.Path == "/done":
		close(s.ready)
	case r.URL.Path == "/robots.txt", r.URL.Path == "/favicon.ico":
		http.NotFound(w, r)
	case host == "127.0.0.1" && !strings.Contains(r.Header.Get("Cookie"), "login="+loginCookie):
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasSuffix(r.URL.Path, ".js"):
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprintf(w, "document.body.append('shown'); fetch('/api?' + %q)", r.URL.Path)
	default:
		w.Header().Add("Set-Cookie", "visit=of-the-crawl; Max-Age=86400; Path=/")
		fmt.Fprintf(w, "<body><a href=/second>private</a><script src=/app.js></script><script src=%s/other.js></script>", s.other)
	}
}

// A userBrowser is a Chromium that a user has started.
type userBrowser struct {
	t       *testing.T
	process *chromium.Process
	conn    *cdp.Conn
}

// startUserBrowser starts a Chromium with a user data directory. The handler
// answers its requests.
func startUserBrowser(t *testing.T, profile string, h http.Handler) *userBrowser {
	t.Helper()
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	process, err := chromium.Start(chromium.Options{Profile: profile, Listeners: 1, DefaultProxy: true, KeyHash: ca.KeyHash()})
	if err != nil {
		t.Fatal(err)
	}
	b := &userBrowser{t, process, cdp.New(func(cdp.Event) {})}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { (&mitm.Server{CA: ca, Handler: h}).Serve(ctx, process.Listeners[0], 0) })
	running.Go(func() { b.conn.Run(process.Out, process.In) })
	t.Cleanup(func() {
		cancel()
		process.Close()
		running.Wait()
	})
	return b
}

func (b *userBrowser) call(method string, params, result any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	if err := b.conn.Call(ctx, "", method, params, result); err != nil {
		b.t.Fatalf("%v: %s", err, b.process.Output())
	}
}

// close closes the browser as a user does, so that it writes its cookies.
func (b *userBrowser) close() {
	b.t.Helper()
	b.call("Browser.close", nil, nil)
	<-b.process.Ended()
	b.process.Close()
}

// cookies returns the cookies of the browser, and its number of pages.
func (b *userBrowser) cookies() (all map[string]string, pages int) {
	b.t.Helper()
	var stored struct {
		Cookies []struct{ Name, Value string }
	}
	b.call("Storage.getCookies", nil, &stored)
	all = map[string]string{}
	for _, c := range stored.Cookies {
		all[c.Name] = c.Value
	}
	var targets struct{ TargetInfos []struct{ Type string } }
	b.call("Target.getTargets", nil, &targets)
	return all, len(targets.TargetInfos)
}

// TestBrowserProfile crawls pages behind a login with the cookies of a profile. The
// cookie reaches the site, no other site, and not the archive. A profile that a
// running browser uses is refused, and this browser notices nothing.
func TestBrowserProfile(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := &profileSite{cookies: map[string]string{}, ready: make(chan struct{})}
	server := httptest.NewServer(s)
	defer server.Close()
	s.other = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	temp := browserTemp(t)
	profile, dir := filepath.Join(temp, "profile"), filepath.Join(t.TempDir(), "archive")
	if err := os.Mkdir(profile, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(profile, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	user := startUserBrowser(t, profile, s)
	user.call("Target.createTarget", map[string]any{"url": server.URL + "/login"}, nil)
	<-s.ready
	user.close()

	crawl := func() commandtest.Result {
		c := commandtest.Command("fetch", "--no-config", "mirror", "--browser", "--browser-profile", "profile", "--warc", "--delay", "0",
			"--page-copies", "text", "--page-idle", "0.3", "--output-dir", dir, server.URL+"/")
		c.Env, c.Dir = append(os.Environ(), "TMPDIR="+temp), temp
		return commandtest.Start(t, c).Wait(t)
	}
	r := crawl()
	if r.Code != 0 {
		t.Fatalf("crawl: %s", r)
	}
	s.mu.Lock()
	for path, want := range map[string]string{
		"127.0.0.1/": "login=" + loginCookie, "127.0.0.1/second": "login=" + loginCookie,
		"127.0.0.1/app.js": "visit=of-the-crawl", "127.0.0.1/api": "login=" + loginCookie, "localhost/other.js": "",
	} {
		got, requested := s.cookies[path]
		if !requested || !strings.Contains(got, want) || want == "" && got != "" || strings.Contains(got, "session=") {
			t.Errorf("%s: %v with the cookies %q, want %q", path, requested, got, want)
		}
	}
	s.mu.Unlock()
	if text := everything(t, dir) + r.Stderr + r.Stdout; strings.Contains(text, loginCookie) || !strings.Contains(text, "\r\nCookie: ***\r\n") {
		t.Error("the archive contains the cookie of the login, or no request with a cookie")
	}

	user = startUserBrowser(t, profile, s)
	before, pages := user.cookies()
	if before["login"] != loginCookie || before["visit"] != "" {
		t.Errorf("cookies of the profile after the crawl: %q", before)
	}
	if r := crawl(); r.Code == 0 || !strings.Contains(r.Stderr, fmt.Sprintf("profile %s is in use by process %d", profile, user.process.PID())) {
		t.Errorf("profile that is in use: %s", r)
	}
	if _, n := user.cookies(); n != pages {
		t.Errorf("the browser of the user has %d pages, want %d", n, pages)
	}
}

// everything returns the content of all files below dir, uncompressed.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case strings.HasSuffix(path, ".gz"):
			all.WriteString(commandtest.Uncompressed(t, path))
		default:
			all.WriteString(commandtest.Content(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
