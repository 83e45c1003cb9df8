package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
)

// largeSize is larger than the buffers of a connection.
const largeSize = 64 << 20

// listenLocal opens a listener on a loopback address for a parallel test. It
// skips the test in short mode.
func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	l, err := Listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestShutdown stops the server during a response. The response is complete, and
// the server accepts no new connection.
func TestShutdown(t *testing.T) {
	l := listenLocal(t)
	h := newHandler(t, func(o *Options) {
		large := ok("application/octet-stream", strings.Repeat("x", largeSize))
		o.Address = l.Addr()
		o.Archives[0].Source = openSample(t, sample{"20240101", "http://a.example/large", "", large})
	})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l, time.Minute) }()
	base := "http://" + l.Addr().String()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(base + root + "2024id_/http://a.example/large")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	cancel()
	for { // until the listener is closed
		other, err := client.Get(base + "/")
		if err != nil {
			break
		}
		other.Body.Close()
	}
	if n, err := io.Copy(io.Discard, resp.Body); n != largeSize || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestMaxRequests checks that a request waits while the maximum number of
// requests runs, and that it ends with its context.
func TestMaxRequests(t *testing.T) {
	h := newHandler(t, func(o *Options) { o.MaxRequests = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.slots <- struct{}{} // a running request
	r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost:8700/", nil)
	w := httptest.NewRecorder()
	r.RequestURI = "/"
	if h.ServeHTTP(w, r); w.Body.Len() > 0 {
		t.Errorf("the second request was answered during the first: %s", w.Body)
	}
	<-h.slots
	for range 2 {
		if w := get(h, "GET", "/"); w.Code != 200 {
			t.Errorf("after the first request: %d", w.Code)
		}
	}
}

// TestDamaged checks that the client of a damaged capture receives the bytes
// before the damage, and notices that the body is incomplete.
func TestDamaged(t *testing.T) {
	l := listenLocal(t)
	short := func(media string) string {
		return "HTTP/1.1 200 OK\r\nContent-Type: " + media + "\r\nContent-Length: 100\r\n\r\nshort"
	}
	h := newHandler(t, func(o *Options) {
		o.Address = l.Addr()
		o.Archives[0].Source = openSample(t, // marks these records as truncated
			sample{"20240101", "http://a.example/text/broken", "", short("text/plain")},
			sample{"20240101", "http://a.example/page/broken", "", short("text/html")},
			sample{"20240101", "http://a.example/all/broken", "", ok("text/plain", "all bytes")})
	})
	serve(t, h, l)
	for target, c := range map[string]struct {
		want     string
		complete bool
	}{
		"2024/http://a.example/text/broken":    {"The text is incomplete", true},
		"2024/http://a.example/page/broken":    {"short", false},
		"2024mp_/http://a.example/page/broken": {"short", false},
		"2024id_/http://a.example/text/broken": {"short", false},
		"2024id_/http://a.example/all/broken":  {"all byte", false},
	} {
		resp, err := http.Get("http://" + l.Addr().String() + root + target)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if (err == nil) != c.complete || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %v, %q", target, err, body)
		}
	}
}

// TestHeaderLimit sends a header that is larger than the limit.
func TestHeaderLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	l, err := Listen("[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, func(o *Options) { o.Address = l.Addr() })
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l, time.Second) }()
	for size, want := range map[int]int{web.MaxHeader / 2: http.StatusOK, 2 * web.MaxHeader: http.StatusRequestHeaderFieldsTooLarge} {
		r, err := http.NewRequestWithContext(ctx, "GET", "http://"+l.Addr().String()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Field", strings.Repeat("x", size))
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("header of %d bytes: %d, want %d", size, resp.StatusCode, want)
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestLocalConnections opens more connections than a server answers that is not
// public. Further clients are answered after some of them have ended.
func TestLocalConnections(t *testing.T) {
	l := listenLocal(t)
	h := newHandler(t, func(o *Options) { o.Address = l.Addr() })
	serve(t, h, patientListener{l})
	open := make([]net.Conn, maxLocal)
	for i := range open {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open[i] = c
	}
	get := func() error {
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + l.Addr().String() + "/")
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	if err := get(); err == nil {
		t.Errorf("connection %d was answered", maxLocal+1)
	}
	for _, c := range open[:4] {
		c.Close()
	}
	waitUntil(t, func() bool { return get() == nil })
}

// A patientListener accepts connections that wait for a request without a limit. A
// busy machine would otherwise reach it before all connections are open.
type patientListener struct{ net.Listener }

func (l patientListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return patientConn{c}, err
}

type patientConn struct{ net.Conn }

// SetReadDeadline ignores deadlines in the future. Others end a Read at once.
func (c patientConn) SetReadDeadline(t time.Time) error {
	if t.After(time.Now()) {
		t = time.Time{}
	}
	return c.Conn.SetReadDeadline(t)
}

// TestErrorLog checks that a panic in a handler is logged and that the server
// answers the next request.
func TestErrorLog(t *testing.T) {
	l := listenLocal(t)
	r, w := io.Pipe()
	h := newHandler(t, func(o *Options) {
		o.Address, o.ErrorLog = l.Addr(), log.New(w, "", 0)
		o.Archives[0].Runs = func(context.Context) ([]Run, bool, error) { panic("a defect") }
	})
	serve(t, h, l)
	logged := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(r).ReadString('\n')
		r.Close() // the trace is not read
		logged <- line
	}()
	base := "http://" + l.Addr().String()
	if resp, err := http.Get(base + root); err == nil {
		resp.Body.Close()
		t.Errorf("status %s", resp.Status)
	}
	if line := <-logged; !strings.Contains(line, "panic serving") || !strings.Contains(line, "a defect") {
		t.Errorf("logged %q", line)
	}
	resp, err := http.Get(base + "/")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("next request: %v", err)
	}
	resp.Body.Close()
}

// TestAbort checks that an incomplete response ends with the panic of
// http.ErrAbortHandler, and that the panic passes no other function than
// ServeHTTP. When a panic passed functions with deferred calls and large
// arguments, the garbage collector of Go 1.26 ended the process with "found
// pointer to free object".
func TestAbort(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		o.MaxRequests = 1
		o.Archives[0].Source = openSample(t, // marks this record as truncated
			sample{"20240101", "http://a.example/broken", "", ok("text/html", "all bytes")})
	})
	for _, target := range []string{"2024/http://a.example/broken", "2024mp_/http://a.example/broken", "2024id_/http://a.example/broken"} {
		func() {
			defer func() {
				if err := recover(); err != http.ErrAbortHandler {
					t.Errorf("%s: panic %v, want http.ErrAbortHandler", target, err)
				}
				if stack := debug.Stack(); bytes.Contains(stack, []byte("(*exchange)")) {
					t.Errorf("%s: the panic passes the functions of an exchange:\n%s", target, stack)
				}
			}()
			get(h, "GET", root+target)
		}()
		if len(h.slots) > 0 {
			t.Errorf("%s: the request is still counted as running", target)
		}
	}
}

// TestServe checks that Serve opens the archives with a path, and that it closes
// the listener in any case.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	w, err := os.Create(filepath.Join(dir, "x.warc"))
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	for _, c := range []struct {
		name, path string
		options    Options
		fault      fetch.Fault
	}{
		{"ends with its context", filepath.Join(dir, "x.warc"), Options{}, 0},
		{"no such archive", filepath.Join(dir, "none.warc"), Options{}, fetch.Local},
		{"invalid option", filepath.Join(dir, "x.warc"), Options{Base: "?"}, fetch.Usage},
	} {
		l, err := Listen("localhost:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c.options.Archives = []Archive{{Name: "x", Path: c.path}}
		if err := Serve(ctx, l, c.options); c.fault == 0 && err != nil || c.fault != 0 && !errors.Is(err, c.fault) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: the listener is open: %v", c.name, err)
		}
		if c.options.Archives[0].Source != nil {
			t.Errorf("%s: the options were changed", c.name)
		}
	}
}
