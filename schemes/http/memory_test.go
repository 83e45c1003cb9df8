package http_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// zeros is a server whose response to /N is a body of N zero bytes.
func zeros(w nethttp.ResponseWriter, r *nethttp.Request) {
	n, _ := strconv.Atoi(r.URL.Path[1:])
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(n))
	for block := make([]byte, 64<<10); n > 0; {
		k, err := w.Write(block[:min(n, len(block))])
		if n -= k; err != nil {
			return
		}
	}
}

func newHTTP2Server(t testing.TB, h nethttp.HandlerFunc) (*httptest.Server, *fetch.Client) {
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: pool}}, http.Schemes(http.Options{})...)
	t.Cleanup(func() { client.Close() })
	return server, client
}

// TestUnreadBodies opens 90 bodies and reads none of them. It checks that their
// memory is limited, and that another body of the same server is complete.
func TestUnreadBodies(t *testing.T) {
	const size, limit = 8 << 20, 60 << 20
	server, client := newHTTP2Server(t, zeros)
	for range 90 {
		resp, err := client.Do(t.Context(), newRequest(server.URL+"/"+strconv.Itoa(size)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
	}
	if body, err := readBody(t, client, server.URL+"/"+strconv.Itoa(size)); len(body) != size || err != nil {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > limit {
		t.Errorf("%d MiB in use", m.HeapAlloc>>20)
	}
	t.Logf("%d MiB in use", m.HeapAlloc>>20)
}

// BenchmarkHTTP2 reads a body of 256 MiB, alone and in eight parts at a time.
func BenchmarkHTTP2(b *testing.B) {
	for _, streams := range []int{1, 8} {
		b.Run(strconv.Itoa(streams), func(b *testing.B) {
			server, client := newHTTP2Server(b, zeros)
			const size = 256 << 20
			b.SetBytes(size)
			for range b.N {
				var all sync.WaitGroup
				for range streams {
					all.Go(func() {
						resp, err := client.Do(b.Context(), newRequest(server.URL+"/"+strconv.Itoa(size/streams)))
						if err != nil {
							b.Error(err)
							return
						}
						defer resp.Body.Close()
						if n, err := io.Copy(io.Discard, resp.Body); n != int64(size/streams) || err != nil {
							b.Errorf("%d bytes, %v", n, err)
						}
					})
				}
				all.Wait()
			}
		})
	}
}
