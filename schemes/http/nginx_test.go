package http_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
)

func realClient(t *testing.T, s *peer.Server, opts http.Options) *fetch.Client {
	o := fetch.Options{Policy: fetch.Typed()}
	if s.Cert != nil {
		o.TLS = &tls.Config{RootCAs: s.Cert.Pool}
	}
	client := fetch.New(o, http.Schemes(opts)...)
	t.Cleanup(func() { client.Close() })
	return client
}

func noise(size int) []byte {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

func TestNginxComplete(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{HTTP2: true})
	data := noise(64 << 20)
	s.Put("big", data)
	want := sha256.Sum256(data)
	for _, test := range []struct {
		name, url, proto string
		opts             http.Options
		listen           bool
	}{
		{"plain", "http://" + s.Addr, "HTTP/1.1", http.Options{}, false},
		{"tls", "https://" + s.TLSAddr, "HTTP/1.1", http.Options{HTTP1: true}, false},
		{"h2", "https://" + s.TLSAddr, "HTTP/2", http.Options{}, false},
		{"h2 with a byte trace", "https://" + s.TLSAddr, "HTTP/1.1", http.Options{}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := realClient(t, s, test.opts)
			req := newRequest(test.url + "/big")
			traced := sha256.New()
			if test.listen {
				req.Trace = &trace.Trace{Received: func(p []byte) { traced.Write(p) }}
			}
			resp, err := client.Do(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			sum, wire := sha256.New(), sha256.New()
			wire.Write(resp.Head)
			if n, err := io.Copy(io.MultiWriter(sum, wire), resp.Body); err != nil || n != resp.Size || resp.Proto != test.proto {
				t.Fatalf("%d bytes of %d by %s, %v", n, resp.Size, resp.Proto, err)
			}
			if [32]byte(sum.Sum(nil)) != want || resp.Validator == "" || resp.Peer.String() != "127.0.0.1" {
				t.Errorf("different body, validator %q, peer %v", resp.Validator, resp.Peer)
			}
			if test.listen && !bytes.Equal(traced.Sum(nil), wire.Sum(nil)) {
				t.Error("trace differs from head and body")
			}
		})
	}
}

func TestNginxRanges(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{HTTP2: true, Server: "location = /old { return 301 /sub/new?q; }\nlocation = /busy { add_header Retry-After 7 always; return 503; }\n"})
	data := noise(100_000)
	s.Put("f", data)
	for _, base := range []string{"http://" + s.Addr, "https://" + s.TLSAddr} {
		client := realClient(t, s, http.Options{})
		first, body, err := get(t, client, newRequest(base+"/f"))
		if err != nil || body != string(data) {
			t.Fatalf("%s: %v", base, err)
		}
		for _, test := range []struct {
			name       string
			want       fetch.Range
			same       string
			from, to   int
			unchanged  string
			headHolds  string
			wantOffset int64
		}{
			{name: "middle", want: fetch.Range{First: 10, End: 20}, from: 10, to: 20, wantOffset: 10},
			{name: "end", want: fetch.Range{First: -10}, from: 99_990, to: 100_000, wantOffset: 99_990},
			{name: "resume", want: fetch.Range{First: 50_000}, same: first.Validator, from: 50_000, to: 100_000, wantOffset: 50_000},
			{name: "resume of another", want: fetch.Range{First: 50_000}, same: `"another"`, from: 0, to: 100_000},
			{name: "resume of all", want: fetch.Range{First: 100_000}, same: first.Validator, from: 100_000, to: 100_000, wantOffset: 100_000},
			{name: "unchanged", unchanged: first.Validator},
		} {
			req := newRequest(base + "/f")
			req.Range, req.IfSame, req.IfNot = test.want, test.same, test.unchanged
			resp, body, err := get(t, client, req)
			if err != nil || body != string(data[test.from:test.to]) || resp.Offset != test.wantOffset || resp.Unchanged != (test.unchanged != "") {
				t.Errorf("%s %s: %d bytes at %d of %d, %v", base, test.name, len(body), resp.Offset, resp.Size, err)
			}
		}
		req := newRequest(base + "/old#frag")
		req.NoFollow = true
		resp, _, err := get(t, client, req)
		if err != nil || !strings.HasSuffix(resp.Location.String(), "/sub/new?q") || resp.Code != 301 {
			t.Errorf("%s: redirect %v, %v", base, resp, err)
		}
		_, _, err = get(t, client, newRequest(base+"/busy"))
		var e *fetch.Error
		if !errors.As(err, &e) || !errors.Is(err, fetch.TryLater) || e.RetryAfter.Seconds() != 7 {
			t.Errorf("%s: busy: %v", base, err)
		}
	}
}

// TestNginxReuse checks that TLS 1.3 session tickets, which arrive before the
// first response, do not prevent the reuse of a connection.
func TestNginxReuse(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{TLS: true})
	s.Put("small", []byte("hello"))
	for _, test := range []struct {
		name, url string
		opts      http.Options
	}{
		{"plain", "http://" + s.Addr, http.Options{}},
		{"tls", "https://" + s.TLSAddr, http.Options{HTTP1: true}},
		{"tls, HTTP/2 offered", "https://" + s.TLSAddr, http.Options{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, conns := realClient(t, s, test.opts), 0
			for range 20 {
				req := newRequest(test.url + "/small")
				req.Trace = &trace.Trace{Phase: func(p trace.Phase, _ net.Conn) {
					if p == trace.Connected {
						conns++
					}
				}}
				if _, body, err := get(t, client, req); body != "hello" || err != nil {
					t.Fatalf("got %q, %v", body, err)
				}
			}
			if conns != 1 {
				t.Errorf("%d connections, want 1", conns)
			}
		})
	}
}
