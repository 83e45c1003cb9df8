package capture_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"

	webscheme "github.com/anyurl/fetch/schemes/http"
)

// TestHTTP09 passes a response without a status code.
func TestHTTP09(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			io.ReadFull(c, make([]byte, 4))
			io.WriteString(c, "<p>old server")
			c.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	stored := 0
	h := &capture.Handler{
		Client: fetch.New(fetch.Options{Policy: fetch.Typed()}, webscheme.Schemes(webscheme.Options{Legacy: webscheme.Legacy{HTTP09: true}})...),
		From:   func(*http.Request, uri.URI) (*fetch.Source, error) { return nil, nil },
		Store:  func(_ context.Context, x *capture.Exchange) error { stored++; x.Free(); return nil },
	}
	defer h.Client.Close()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "http://"+l.Addr().String()+"/", nil))
	if w.Code != 200 || w.Body.String() != "<p>old server" || stored != 1 {
		t.Errorf("code %d, body %q, %d exchanges", w.Code, w.Body, stored)
	}
}
