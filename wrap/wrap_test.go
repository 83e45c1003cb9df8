package wrap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/schemes/file"
	"github.com/anyurl/fetch/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// all returns all middlewares.
func all() []fetch.Middleware {
	return Standard(Options{
		Log:      slog.New(slog.NewTextHandler(io.Discard, nil)),
		Progress: func(Event) {},
		Cache:    &CacheOptions{},
		Segments: 4,
		Polite:   &PoliteOptions{PerHost: 8},
		Rate:     1 << 40,
	})
}

// TestContract runs the suite of fetchtest with all middlewares.
func TestContract(t *testing.T) {
	dir := t.TempDir()
	content := bytes.Repeat([]byte("0123456789abcde\n"), 10_000)
	path := filepath.Join(dir, "f.txt")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return file.Schemes(file.Options{}) },
		Options:  fetch.Options{Wrap: all()},
		Local:    true,
		Document: "file://" + path,
		Body:     content,
		Missing:  "file://" + path + "x",
		Menu:     "file://" + dir,
		Names:    []string{"f.txt"},
		Rejected: []string{"file://evil/x"},
	})
}

// TestBodyContract checks the contract of package wrap for the Body of each
// middleware.
func TestBodyContract(t *testing.T) {
	req := &fetch.Request{URL: uri.MustParse("gopher://h/1")}
	wraps := map[string]func() fetch.Middleware{
		"log":      func() fetch.Middleware { return Log(slog.New(slog.DiscardHandler)) },
		"progress": func() fetch.Middleware { return Progress(func(Event) {}) },
		"cache":    func() fetch.Middleware { return Cache(CacheOptions{}) },
		"retry":    func() fetch.Middleware { return Retry(RetryOptions{}) },
		"polite":   func() fetch.Middleware { return Polite(PoliteOptions{}) },
		"limit":    func() fetch.Middleware { return Limit(1 << 40) },
		"no log":   func() fetch.Middleware { return Log(nil) },
		"no hook":  func() fetch.Middleware { return Progress(nil) },
	}
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []fetch.Kind{fetch.Document, fetch.Menu} {
				over := func(body io.ReadCloser) fetch.Driver { // returns a new middleware, so that the cache is empty
					return wrap()(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
						return &fetch.Response{Kind: kind, Size: -1, Validator: "v", Body: body}, nil
					}))
				}
				bodyEnds(t, over, req)
				bodyFails(t, over, req)
				closeWakes(t, over, req)
			}
		})
	}
}

// counted counts the calls of Close.
type counted struct {
	io.Reader
	closed int
}

func (c *counted) Close() error {
	c.closed++
	return errors.New("on close")
}

func bodyEnds(t *testing.T, driver func(io.ReadCloser) fetch.Driver, req *fetch.Request) {
	body := &counted{Reader: strings.NewReader("hello")}
	resp, err := driver(body).Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if string(b) != "hello" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: got %d, %v", n, err)
	}
	for range 2 {
		if err := resp.Body.Close(); err == nil || err.Error() != "on close" {
			t.Errorf("Close: got %v, want the error of the body below", err)
		}
	}
	if body.closed != 1 && resp.Body != body { // an unwrapped Body may be closed twice
		t.Errorf("body below was closed %d times", body.closed)
	}
}

func bodyFails(t *testing.T, driver func(io.ReadCloser) fetch.Driver, req *fetch.Request) {
	resp, err := driver(io.NopCloser(io.MultiReader(strings.NewReader("hel"), &failing{fetch.Protocol}))).Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for range 2 { // the error is permanent
		b, err := io.ReadAll(resp.Body)
		if !errors.Is(err, fetch.Protocol) || !strings.HasPrefix("hel", string(b)) {
			t.Errorf("got %q, %v", b, err)
		}
	}
}

// failing is a Reader that always fails.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// closeWakes closes a body during a Read that waits for the server.
func closeWakes(t *testing.T, driver func(io.ReadCloser) fetch.Driver, req *fetch.Request) {
	r, w := io.Pipe()
	resp, err := driver(r).Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var peer sync.WaitGroup
	peer.Go(func() {
		w.Write([]byte("x"))
		resp.Body.Close()
	})
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("read %d bytes to a clean end, though closed", n)
	}
	r.Close() // wakes the peer
	peer.Wait()
}
