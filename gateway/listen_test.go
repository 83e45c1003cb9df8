package gateway

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// largeSize is larger than the buffers of a connection.
const largeSize = 64 << 20

// TestShutdown stops the server during a response. The response is complete, and
// the server accepts no new connection.
func TestShutdown(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	l, err := Listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
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

// TestTruncated checks that the connection is closed if a record is damaged, so
// that the client notices the incomplete body.
func TestTruncated(t *testing.T) {
	h := newHandler(t, func(o *Options) { // openSample marks the record as truncated
		broken := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nshort"
		o.Archives[0].Source = openSample(t, sample{"20240101", "http://a.example/broken", "", broken})
	})
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("the handler ended with %v", got)
		}
	}()
	if w := get(h, "GET", root+"2024/http://a.example/broken"); !strings.Contains(w.Body.String(), "The text is incomplete") {
		t.Errorf("page: %s", w.Body)
	}
	get(h, "GET", root+"2024id_/http://a.example/broken")
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
	for size, want := range map[int]int{maxHeader / 2: http.StatusOK, 2 * maxHeader: http.StatusRequestHeaderFieldsTooLarge} {
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
