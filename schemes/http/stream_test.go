package http_test

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// A flusher is an encoder that can send a part of its output.
type flusher interface {
	io.Writer
	Flush() error
}

var codings = map[string]func(io.Writer) flusher{
	"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) flusher { f, _ := flate.NewWriter(w, 6); return f },
	"br":      func(w io.Writer) flusher { return brotli.NewWriter(w) },
	"zstd":    func(w io.Writer) flusher { z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); return z },
}

// pieceCount is the number of pieces in a streamed body.
const pieceCount = 5

// streamPieces serves a body in pieces. It sends a piece only after the reader
// has confirmed the previous one. A reader that buffers pieces therefore
// blocks.
func streamPieces(confirmed <-chan int) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(404)
			return
		}
		control := nethttp.NewResponseController(w)
		out := io.Writer(w)
		coding := r.Header.Get("X-Coding")
		if coding != "" {
			w.Header().Set("Content-Encoding", coding)
			out = codings[coding](w)
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range pieceCount {
			io.WriteString(out, sprintf("<p>piece %d\n", i))
			if f, ok := out.(flusher); ok {
				f.Flush()
			}
			control.Flush()
			confirmed := confirmed
			if r.Header.Get("Range") != "" && coding != "" {
				confirmed = nil // Segments cancels this request, which must not receive confirmations of the next one
			}
			select {
			case <-confirmed:
			case <-r.Context().Done():
				return
			}
		}
		if c, ok := out.(io.Closer); ok {
			c.Close()
		}
	}
}

// TestStream checks that the bytes of a body reach the caller as soon as they
// arrive, with chunks and frames, with each coding, and through every
// middleware. HTML is the hardest case, because it may be a listing.
func TestStream(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2"} {
		for _, coding := range []string{"", "gzip", "deflate", "br", "zstd"} {
			for name, around := range map[string][]fetch.Middleware{
				"bare":         nil,
				"middlewares":  middlewares(),
				"not segments": {wrap.Segments(2)},
			} {
				t.Run(proto+" "+coding+" "+name, func(t *testing.T) {
					confirmed := make(chan int, pieceCount)
					server := httptest.NewUnstartedServer(streamPieces(confirmed))
					if proto == "HTTP/2" {
						server.EnableHTTP2 = true
						server.StartTLS()
					} else {
						server.Start()
					}
					defer server.Close()
					opts := fetch.Options{Policy: fetch.Typed(), Wrap: around}
					if server.TLS != nil {
						pool := x509.NewCertPool()
						pool.AddCert(server.Certificate())
						opts.TLS = &tls.Config{RootCAs: pool}
					}
					client := fetch.New(opts, http.Schemes(http.Options{Compressed: coding != ""})...)
					defer client.Close()
					req := newRequest(server.URL + "/")
					req.Header = fields("X-Coding", coding)
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
					defer cancel()
					resp, err := client.Do(ctx, req)
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					if resp.Proto[:6] != proto[:6] {
						t.Errorf("protocol %s", resp.Proto)
					}
					readPieces(t, resp.Body, confirmed)
				})
			}
		}
	}
}

// middlewares returns the middlewares of package wrap that handle bodies.
func middlewares() []fetch.Middleware {
	return []fetch.Middleware{
		wrap.Cache(wrap.CacheOptions{}),
		wrap.Log(slog.New(slog.DiscardHandler)),
		wrap.Progress(func(wrap.Event) {}),
		wrap.Limit(1 << 20),
		wrap.Polite(wrap.PoliteOptions{}),
		wrap.Retry(wrap.RetryOptions{}),
	}
}

// readPieces reads the body and confirms each piece.
func readPieces(t *testing.T, body io.Reader, confirmed chan<- int) {
	buffer := make([]byte, 256<<10)
	for i := range pieceCount {
		want, got := sprintf("<p>piece %d\n", i), ""
		for len(got) < len(want) {
			n, err := body.Read(buffer)
			got += string(buffer[:n])
			if err != nil {
				t.Fatalf("piece %d: got %q, %v", i, got, err)
			}
		}
		if got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		confirmed <- i
	}
	if n, err := io.Copy(io.Discard, body); n > 0 || err != nil {
		t.Errorf("%d bytes behind the last piece, %v", n, err)
	}
}
