package doh_test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/schemes/http/doh"
)

// longRecords returns the answer to a query: HTTPS records of 60 kB.
func longRecords(t *testing.T, query string) []byte {
	b, _ := base64.RawURLEncoding.DecodeString(query)
	var q dnsmessage.Message
	if err := q.Unpack(b); err != nil || len(q.Questions) != 1 {
		t.Errorf("query %x: %v", b, err)
		return nil
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true}, Questions: q.Questions}
	for range 8 {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 3600},
			Body: &dnsmessage.HTTPSResource{SVCBResource: dnsmessage.SVCBResource{
				Priority: 1, Target: dnsmessage.MustNewName("."),
				Params: []dnsmessage.SVCParam{{Key: dnsmessage.SVCParamECH, Value: []byte(strings.Repeat("x", 7500))}},
			}},
		})
	}
	packed, err := m.Pack()
	if err != nil {
		t.Error(err)
	}
	return packed
}

// TestMemoryOfServices looks up the HTTPS records of many hosts of a hostile
// domain. Few of the long records may be remembered.
func TestMemoryOfServices(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/dns-message")
		w.Write(longRecords(t, r.URL.Query().Get("dns")))
	}))
	defer s.Close()
	r, err := doh.New(doh.Options{URL: s.URL, TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	for i := range 200 {
		if all, err := r.Services(t.Context(), fmt.Sprintf("h%d.test", i), 443); err != nil || len(all) != 8 {
			t.Fatalf("%d services, %v", len(all), err)
		}
	}
	if after := inUse(); after > before+4<<20 {
		t.Errorf("%d bytes are remembered", after-before)
	}
}
