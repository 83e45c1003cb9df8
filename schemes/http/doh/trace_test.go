package doh_test

import (
	"crypto/tls"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/peer"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/doh"
	"github.com/anyurl/fetch/uri"
)

// TestTrace checks that the Trace of a request reports only this request, and
// not the DNS queries that it needs.
func TestTrace(t *testing.T) {
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"a.test", "127.0.0.1"}})
	start := func(h http.HandlerFunc) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		s.TLS, s.EnableHTTP2 = &tls.Config{Certificates: []tls.Certificate{cert.TLS}}, true
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	dns := start(answerLoopback)
	s := start(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	config := &tls.Config{RootCAs: cert.Pool}
	r, err := doh.New(doh.Options{URL: dns.URL + "/dns-query", TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Resolver: r, TLS: config}, web.Schemes(web.Options{})...)
	defer client.Close()
	var mu sync.Mutex
	var heads []string
	restarts := 0
	addr := s.Listener.Addr().String()
	req := &fetch.Request{URL: uri.MustParse("https://a.test" + addr[strings.LastIndexByte(addr, ':'):] + "/x"), Trace: &trace.Trace{
		RequestHead: func(head string) {
			mu.Lock()
			defer mu.Unlock()
			line, _, _ := strings.Cut(head, "\r\n")
			heads = append(heads, line)
		},
		Restart: func() {
			mu.Lock()
			defer mu.Unlock()
			restarts++
		},
	}}
	resp, err := client.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if want := []string{"GET /x HTTP/2"}; !slices.Equal(heads, want) || restarts != 0 {
		t.Errorf("the Trace has the requests %q and %d restarts, want %q", heads, restarts, want)
	}
}

// answerLoopback answers queries for A with 127.0.0.1, and all others with no
// record.
func answerLoopback(w http.ResponseWriter, r *http.Request) {
	var m dnsmessage.Message
	b, err := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
	if err != nil || m.Unpack(b) != nil || len(m.Questions) != 1 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m.Response = true
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60}
		m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
	}
	packed, err := m.Pack()
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/dns-message")
	w.Write(packed)
}
