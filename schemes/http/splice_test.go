package http_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/splice"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// A pipeFile is a file that counts the bytes that arrived through a pipe.
type pipeFile struct {
	*os.File
	moved int
}

func (f *pipeFile) CanWritePipe() bool { return true }

func (f *pipeFile) WritePipe(p *splice.Pipe, n int) (int, error) {
	n, err := p.Drain(f.File, n)
	f.moved += n
	return n, err
}

// TestSplice copies a large body of each framing to a file. Only a body whose
// bytes need no decoding may be moved through a pipe.
func TestSplice(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	for _, c := range []struct {
		name    string
		framing string
		proto   string // "", "TLS" or "HTTP/2"
		legacy  http.Legacy
		around  []fetch.Middleware
		piped   bool
	}{
		{name: "known length", framing: "length", piped: true},
		{name: "end of the connection", framing: "close", piped: true},
		{name: "chunked", framing: "chunked"},
		{name: "chunked, not decoded", framing: "chunked", legacy: http.Legacy{Raw: true}},
		{name: "TLS", framing: "length", proto: "TLS"},
		{name: "HTTP/2", framing: "length", proto: "HTTP/2"},
		{name: "known length, resumable", framing: "length", around: []fetch.Middleware{wrap.Retry(wrap.RetryOptions{})}, piped: true},
		{name: "chunked, resumable", framing: "chunked", around: []fetch.Middleware{wrap.Retry(wrap.RetryOptions{})}},
		{name: "chunked, observed", framing: "chunked", around: []fetch.Middleware{wrap.Progress(func(wrap.Event) {})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
				switch w.Header().Set("Content-Type", "application/octet-stream"); c.framing {
				case "length":
					w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				case "close":
					w.Header().Set("Connection", "close")
					w.Header().Set("Transfer-Encoding", "identity")
				}
				w.Write(body)
			}))
			server.EnableHTTP2 = c.proto == "HTTP/2"
			opts := fetch.Options{Policy: fetch.Typed(), Wrap: c.around}
			if c.proto == "" {
				server.Start()
			} else {
				server.StartTLS()
				opts.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
				opts.TLS.RootCAs.AddCert(server.Certificate())
			}
			defer server.Close()
			client := fetch.New(opts, http.Schemes(http.Options{Legacy: c.legacy})...)
			defer client.Close()
			resp, err := client.Do(t.Context(), newRequest(server.URL+"/"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			file := newPipeFile(t)
			if _, err := splice.Copy(file, resp.Body, make([]byte, 32<<10)); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(file.Name()); err != nil || !c.legacy.Raw && !bytes.Equal(got, body) {
				t.Errorf("got %d bytes, %v; want %d bytes", len(got), err, len(body))
			}
			if want := c.piped && splice.CanFill(&net.TCPConn{}); (file.moved > 0) != want {
				t.Errorf("%d bytes were moved through a pipe, want more than 0: %v", file.moved, want)
			}
		})
	}
}

func newPipeFile(t *testing.T) *pipeFile {
	f, err := os.Create(filepath.Join(t.TempDir(), "body"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &pipeFile{File: f}
}
