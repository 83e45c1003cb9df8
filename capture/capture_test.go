package capture_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/mitm"
	fetchhttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A proxy is a running proxy with its CA and the directory of its WARC file.
type proxy struct {
	t      *testing.T
	url    *url.URL
	ca     *mitm.CA
	dir    string
	stop   func() // ends the proxy and closes the file
	handle *capture.Handler

	mu    sync.Mutex
	notes []string
}

// typed is a function for Handler.From that treats all URLs as typed.
func typed(*http.Request, uri.URI) (*fetch.Source, error) { return nil, nil }

// startProxy runs a proxy whose upstream servers have the certificates in roots.
func startProxy(t *testing.T, roots *x509.CertPool, change func(*capture.Handler, *mitm.Server)) *proxy {
	t.Helper()
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, ca: ca, dir: t.TempDir()}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := warc.NewWriter(root, warc.Options{Name: "all.warc.gz"})
	if err != nil {
		t.Fatal(err)
	}
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: roots}},
		fetchhttp.Schemes(fetchhttp.Options{})...)
	store := capture.NewWriter(w, capture.WriterOptions{})
	p.handle = &capture.Handler{Client: client, From: typed, Store: store.Store, Note: p.note}
	server := &mitm.Server{CA: ca, Handler: p.handle, Refused: func(_ *http.Request, reason string) { p.note("%s", reason) }}
	if change != nil {
		change(p.handle, server)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, 10*time.Second) }()
	p.url = &url.URL{Scheme: "http", Host: l.Addr().String()}
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-done, client.Close(), w.Close(), root.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

func (p *proxy) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// client returns a client that uses the proxy and trusts its CA.
func (p *proxy) client(http2 bool) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.ca.PEM())
	transport := &http.Transport{
		Proxy: http.ProxyURL(p.url), TLSClientConfig: &tls.Config{RootCAs: roots},
		DisableCompression: true, ForceAttemptHTTP2: http2,
	}
	p.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// records returns the records of the WARC file as lines.
func (p *proxy) records() (lines []string) {
	p.stop()
	f, err := os.Open(p.dir + "/all.warc.gz")
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	for r := warc.NewReader(f); ; {
		rec, err := r.Next()
		if err == io.EOF {
			return lines
		}
		if err != nil {
			p.t.Fatal(err)
		}
		block, _ := io.ReadAll(r)
		lines = append(lines, fmt.Sprintf("%s %s %q", rec.Type(), rec.Target(), block))
	}
}

// verify reports an error for each finding in the WARC file.
func (p *proxy) verify() {
	p.t.Helper()
	for f, err := range warc.Verify(p.dir + "/all.warc.gz") {
		if err != nil {
			p.t.Error(err)
		} else {
			p.t.Error(f)
		}
	}
}

// testServer answers requests with their method, path and body.
func testServer(secure bool) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write([]byte("\x1f\x8b undecoded"))
		case "/redirect":
			http.Redirect(w, r, "/target", http.StatusTemporaryRedirect)
		case "/missing":
			http.Error(w, "not here", http.StatusNotFound)
		case "/login":
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			w.WriteHeader(401)
		default:
			fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("X-Probe"), body)
		}
	}))
	s.EnableHTTP2 = secure
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	return s
}

func TestExchanges(t *testing.T) {
	for _, kind := range []string{"http", "https over HTTP/1", "https over HTTP/2"} {
		t.Run(kind, func(t *testing.T) {
			secure := kind != "http"
			server := testServer(secure)
			defer server.Close()
			roots := x509.NewCertPool()
			if secure {
				roots.AddCert(server.Certificate())
			}
			p := startProxy(t, roots, nil)
			client := p.client(kind == "https over HTTP/2")
			for _, c := range []struct {
				about, method, path, body string
				code                      int
				want                      string
			}{
				{"a page", "GET", "/page?a=1", "", 200, "GET /page?a=1 yes "},
				{"a path that a driver would change", "GET", "/a/./b/%7e//c", "", 200, "GET /a/./b/%7e//c yes "},
				{"a form", "POST", "/form", "name=value", 200, "POST /form yes name=value"},
				{"an empty body", "POST", "/empty", "", 200, "POST /empty yes "},
				{"another method", "DELETE", "/it", "", 200, "DELETE /it yes "},
				{"an encoded body is passed on unchanged", "GET", "/gzip", "", 200, "\x1f\x8b undecoded"},
				{"a redirect is passed on", "POST", "/redirect", "x", 307, ""},
				{"an error page is passed on", "GET", "/missing", "", 404, "not here\n"},
				{"a challenge is passed on", "GET", "/login", "", 401, ""},
				{"HEAD", "HEAD", "/head", "", 200, ""},
			} {
				var body io.Reader
				if c.method == "POST" {
					body = strings.NewReader(c.body)
				}
				r, _ := http.NewRequest(c.method, server.URL+c.path, body)
				r.Header.Set("X-Probe", "yes")
				resp, err := client.Do(r)
				if err != nil {
					t.Errorf("%s: %v", c.about, err)
					continue
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != c.code || string(text) != c.want || err != nil {
					t.Errorf("%s: %d %q %v, want %d %q", c.about, resp.StatusCode, text, err, c.code, c.want)
				}
				if want := map[bool]int{true: 2, false: 1}[kind == "https over HTTP/2"]; resp.ProtoMajor != want {
					t.Errorf("%s: %s", c.about, resp.Proto)
				}
			}
			all := strings.Join(p.records(), "\n")
			for _, want := range []string{"name=value\"", "POST /form", "DELETE /it", "undecoded", "not here", "307"} {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in the records:\n%s", want, all)
				}
			}
			p.verify()
		})
	}
}

// TestLargeBody checks the digests of records of large bodies, which are computed
// while the body arrives.
func TestLargeBody(t *testing.T) {
	large := make([]byte, 3<<20)
	rand.NewChaCha8([32]byte{}).Read(large)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := len(body)
		switch r.URL.Path {
		case "/short":
			n -= 100
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		case "/interim":
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("Content-Length", strconv.Itoa(n))
		case "/coded":
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Length", strconv.Itoa(n))
		case "/length":
			w.Header().Set("Content-Length", strconv.Itoa(n))
		}
		w.Write(body[:n])
	}))
	defer server.Close()
	p := startProxy(t, nil, nil)
	for i, path := range []string{"/chunks", "/length", "/interim", "/coded", "/short"} {
		large[0] = byte(i) // no revisit record
		resp, err := p.client(false).Post(server.URL+path, "application/octet-stream", bytes.NewReader(large))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if short := path == "/short"; (err != nil) != short || !short && !bytes.Equal(text, large) {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
	p.stop()
	p.verify()
}
