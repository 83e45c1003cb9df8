package mirror_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// http2Options returns the options of a mirror of url that trusts the
// certificates in pool.
func http2Options(t *testing.T, url string, pool *x509.CertPool, o schemes.Options) mirror.Options {
	c := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: pool}}, schemes.All(o)...)
	t.Cleanup(func() { c.Close() })
	return mirror.Options{
		Dir: t.TempDir(), Tree: true, Client: c, Seeds: []uri.URI{uri.MustParse(url)},
		WARC: &mirror.WARC{Prefix: "test"},
	}
}

// TestHTTP2 mirrors a server that speaks only HTTP/2. The records have HTTP/1.1
// messages, and can be replayed, verified, recovered and used to restore files.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	for _, compressed := range []bool{false, true} {
		t.Run(fmt.Sprintf("compressed=%v", compressed), func(t *testing.T) {
			short.Sample(t, 2)
			site := newValidatingSite()
			site.webSite["/"] += `<a href=trailer><a href=coded.txt>`
			server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
				if r.ProtoMajor != 2 {
					t.Errorf("%s over %s", r.URL, r.Proto)
				}
				switch r.URL.Path {
				case "/trailer":
					w.Header().Set("Trailer", "X-Check")
					io.WriteString(w, "with a trailer\n")
					w.Header().Set("X-Check", "good")
				case "/coded.txt":
					w.Header().Set("Content-Type", "text/plain")
					w.Header().Set("Content-Encoding", "gzip")
					io.WriteString(w, gzipped(t, "coded\n"))
				default:
					site.ServeHTTP(w, r)
				}
			}))
			server.Config.Protocols = new(nethttp.Protocols)
			server.Config.Protocols.SetHTTP2(true)
			server.EnableHTTP2 = true
			server.TLS = &tls.Config{NextProtos: []string{"h2"}}
			server.StartTLS()
			defer server.Close()
			pool := x509.NewCertPool()
			pool.AddCert(server.Certificate())
			o := http2Options(t, server.URL+"/", pool, schemes.Options{HTTP: http.Options{Compressed: compressed}})
			if sum := run(t, o); sum.Failed != 1 || sum.Unreached > 0 { // the page "none" does not exist
				t.Fatalf("%+v\n%s", sum, outcomes(t, o.Dir))
			}
			checkHTTP2Records(t, o.Dir)
			checkVerify(t, o.Dir)
			files := digests(tree(t, o.Dir, ""))

			if sum := run(t, o); sum.New > 0 || sum.Failed != 1 {
				t.Errorf("second run: %+v", sum)
			}
			checkVerify(t, o.Dir)
			for path, text := range map[string]string{
				"/one.txt": site.webSite["/one.txt"], "/three.txt": site.webSite["/three.txt"], "/sub/deep.txt": "deep\n",
				"/trailer": "with a trailer\n", "/coded.txt": "coded\n",
			} {
				checkReplay(t, warcs(t, o.Dir), server.URL+path, text)
			}

			for name := range tree(t, o.Dir, "") {
				if strings.HasSuffix(name, "deep.txt") || strings.HasSuffix(name, "one.txt") {
					os.Remove(filepath.Join(o.Dir, "tree", name))
				}
			}
			if _, err := mirror.Heal(t.Context(), o.Dir, mirror.HealOptions{}); err != nil {
				t.Error(err)
			}
			if healed := digests(tree(t, o.Dir, "")); healed != files {
				t.Errorf("before:\n%s\nhealed:\n%s", files, healed)
			}
			remove(t, o.Dir, "fetch.db*")
			recoverArchive(t, o)
			coded := map[bool]int64{false: 1}[compressed] // the file with a content coding
			if sum := run(t, o); sum.New > coded || digests(tree(t, o.Dir, "")) != files {
				t.Errorf("after recover: %+v", sum)
			}
			checkVerify(t, o.Dir)
		})
	}
}

// checkHTTP2Records checks the form of all records of requests and responses.
func checkHTTP2Records(t *testing.T, dir string) {
	t.Helper()
	heads, blocks := records(t, dir)
	seen, trailers := map[string]int{}, 0
	for i, h := range heads {
		kind, block := h.Get("WARC-Type"), blocks[i]
		trailers += strings.Count(block, "trailer: X-Check: good")
		prefix := map[string]string{"request": "GET /", "response": "HTTP/1.1 ", "revisit": "HTTP/1.1 "}[kind]
		if prefix == "" {
			continue
		}
		seen[kind]++
		head, _, ended := strings.Cut(block, "\r\n\r\n")
		if !strings.HasPrefix(block, prefix) || !ended || kind == "request" && !strings.Contains(head, " HTTP/1.1\r\nhost: 127.0.0.1:") {
			t.Errorf("%s record: %q", kind, head)
		}
		if got := h.Get("WARC-Protocol"); got != "h2" {
			t.Errorf("protocol %q of %q", got, head)
		}
	}
	if seen["request"] != seen["response"]+seen["revisit"] || seen["response"] < 8 || seen["revisit"] == 0 || trailers != 1 {
		t.Errorf("records %v, %d trailers", seen, trailers)
	}
}

// TestNghttpd mirrors nghttpd, which does not speak HTTP/1.1.
func TestNghttpd(t *testing.T) {
	t.Parallel()
	s := peer.Nghttpd(t)
	addPages(s)
	_, port, _ := strings.Cut(s.TLSAddr, ":")
	o := http2Options(t, "https://localhost:"+port+"/pub/", s.Cert.Pool, schemes.Options{})
	if sum := run(t, o); sum.New != int64(201+len(source)) || sum.Failed > 0 {
		t.Errorf("%+v", sum)
	}
	checkVerify(t, o.Dir)
	if files := tree(t, o.Dir, "https/localhost+"+port+"/pub"); files["two.bin"] != source["pub/two.bin"] {
		t.Errorf("%d files", len(files))
	}
}
