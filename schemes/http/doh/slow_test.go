package doh_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// TestServicesOfSlowServer checks that calls which end before the server answers
// send one query together, and that later calls use its answer.
func TestServicesOfSlowServer(t *testing.T) {
	var queries atomic.Int32
	answer := make(chan struct{})
	r := serveMessages(t, func(m *dnsmessage.Message) {
		queries.Add(1)
		<-answer
		record := dnsmessage.SVCBResource{Priority: 1, Target: dnsmessage.MustNewName(".")}
		header := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 60}
		m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.HTTPSResource{SVCBResource: record}}}
	})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if all, err := r.Services(ctx, "host.test", 443); err != context.DeadlineExceeded {
			t.Errorf("no answer yet: got %q, %v", describe(all), err)
		}
		cancel()
	}
	close(answer)
	all, err := r.Services(t.Context(), "host.test", 443)
	if n := queries.Load(); describe(all) != "host.test:443 http/1.1" || err != nil || n != 1 {
		t.Errorf("got %q, %v after %d queries", describe(all), err, n)
	}
	r.Close()
	if _, err := r.Services(t.Context(), "other.test", 443); fetch.FaultOf(err) != fetch.Usage {
		t.Errorf("closed: got %v", err)
	}
}

// serveMessages returns a Resolver whose server changes each query into an answer
// by calling answer.
func serveMessages(t *testing.T, answer func(*dnsmessage.Message)) *doh.Resolver {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m dnsmessage.Message
		b, _ := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
		if err := m.Unpack(b); err != nil {
			t.Error(err)
			return
		}
		m.Response = true
		answer(&m)
		packed, err := m.Pack()
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/dns-message")
		w.Write(packed)
	}))
	t.Cleanup(s.Close)
	r, err := doh.New(doh.Options{URL: s.URL, TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
