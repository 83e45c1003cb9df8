package doh_test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// describe returns the services as text.
func describe(all []doh.Service) string {
	var text []string
	for _, s := range all {
		text = append(text, fmt.Sprintf("%s:%d %s", s.Host, s.Port, strings.Join(s.Protocols, ",")))
		if s.ECH != nil {
			text[len(text)-1] += fmt.Sprintf(" ech of %d bytes", len(s.ECH))
		}
	}
	return strings.Join(text, "; ")
}

// TestServicesOfServer reads HTTPS records of dnsdist and unbound.
func TestServicesOfServer(t *testing.T) {
	s := peer.DNS(t, `own.test. HTTPS 1 . alpn=h2,h3`, `far.test. HTTPS 2 slow.test. alpn=h3`, `far.test. HTTPS 1 fast.test. alpn=h3 port=8443`,
		`alias.test. HTTPS 0 own.test.`, `name.test. CNAME own.test.`, `_8443._https.own.test. HTTPS 1 . no-default-alpn alpn=h3 port=9443`, `none.test. A 127.0.0.1`)
	r, err := doh.New(doh.Options{URL: "https://" + s.TLSAddr + "/dns-query", TLS: &tls.Config{RootCAs: s.Cert.Pool}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		name, host string
		port       uint16
		want       string
	}{
		{"the host itself", "OWN.test.", 443, "own.test:443 h2,h3,http/1.1"},
		{"priorities", "far.test", 443, "fast.test:8443 h3,http/1.1; slow.test:443 h3,http/1.1"},
		{"AliasMode", "alias.test", 443, "own.test:443 h2,h3,http/1.1"},
		{"other port", "own.test", 8443, "own.test:9443 h3"},
		{"no record", "none.test", 443, ""},
		{"no such name", "missing.test", 443, ""},
		{"name too long", strings.Repeat("a.", 200), 443, ""},
	} {
		if all, err := r.Services(t.Context(), c.host, c.port); err != nil || describe(all) != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, describe(all), err, c.want)
		}
	}
}

// TestServicesOfHostileServer checks HTTPS records that a server must not send.
func TestServicesOfHostileServer(t *testing.T) {
	record := func(target string, priority uint16, params ...dnsmessage.SVCParam) dnsmessage.SVCBResource {
		return dnsmessage.SVCBResource{Priority: priority, Target: dnsmessage.MustNewName(target), Params: params}
	}
	param := func(key dnsmessage.SVCParamKey, value string) dnsmessage.SVCParam {
		return dnsmessage.SVCParam{Key: key, Value: []byte(value)}
	}
	const alpn, port, mandatory, ech = dnsmessage.SVCParamALPN, dnsmessage.SVCParamPort, dnsmessage.SVCParamMandatory, dnsmessage.SVCParamECH
	h3 := param(alpn, "\x02h3")
	many := make([]dnsmessage.SVCBResource, 200)
	for i := range many {
		many[i] = record(".", 1, h3)
	}
	for _, c := range []struct {
		name    string
		records []dnsmessage.SVCBResource
		want    string
		fails   bool
	}{
		{"good", []dnsmessage.SVCBResource{record(".", 1, h3)}, "host.test:443 h3,http/1.1", false},
		{"alias of itself", []dnsmessage.SVCBResource{record("host.test.", 0)}, "", true},
		{"alias and services", []dnsmessage.SVCBResource{record("host.test.", 0), record(".", 1, h3)}, "", true},
		{"alias of this machine", []dnsmessage.SVCBResource{record("App.LocalHost.", 0)}, "", false},
		{"alias that is no name", []dnsmessage.SVCBResource{record(".", 0)}, "", false},
		{"port 0", []dnsmessage.SVCBResource{record(".", 1, h3, param(port, "\x00\x00"))}, "", false},
		{"short port", []dnsmessage.SVCBResource{record(".", 1, h3, param(port, "\x01"))}, "", false},
		{"empty protocol", []dnsmessage.SVCBResource{record(".", 1, param(alpn, "\x00\x02h3"))}, "host.test:443 http/1.1", false},
		{"long protocol", []dnsmessage.SVCBResource{record(".", 1, param(alpn, "\x09h3"))}, "host.test:443 http/1.1", false},
		{"unknown mandatory parameter", []dnsmessage.SVCBResource{record(".", 1, param(mandatory, "\xff\x00"), h3)}, "", false},
		{"odd mandatory parameter", []dnsmessage.SVCBResource{record(".", 1, param(mandatory, "\x00"), h3)}, "", false},
		{"known mandatory parameters", []dnsmessage.SVCBResource{record(".", 1, param(mandatory, "\x00\x01\x00\x03"), h3, param(port, "\x01\xbb"))}, "host.test:443 h3,http/1.1", false},
		{"ECH", []dnsmessage.SVCBResource{record(".", 1, h3, param(ech, "x"))}, "host.test:443 h3,http/1.1 ech of 1 bytes", false},
		{"mandatory ECH", []dnsmessage.SVCBResource{record(".", 1, param(mandatory, "\x00\x05"), param(ech, "x"))}, "host.test:443 http/1.1 ech of 1 bytes", false},
		{"empty ECH", []dnsmessage.SVCBResource{record(".", 1, h3, param(ech, ""))}, "host.test:443 h3,http/1.1", false},
		{"long ECH", []dnsmessage.SVCBResource{record(".", 1, h3, param(ech, strings.Repeat("x", 9000)))}, "host.test:443 h3,http/1.1", false},
		{"many", many, strings.TrimSuffix(strings.Repeat("host.test:443 h3,http/1.1; ", 16), "; "), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			queries := 0
			s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				queries++
				b, _ := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
				var q dnsmessage.Message
				if err := q.Unpack(b); err != nil || len(q.Questions) != 1 {
					t.Errorf("query %x: %v", b, err)
					return
				}
				if name := q.Questions[0].Name.String(); name != "host.test." {
					t.Errorf("query for %s", name)
				}
				m := dnsmessage.Message{Header: dnsmessage.Header{Response: true}, Questions: q.Questions}
				for _, record := range c.records {
					h := dnsmessage.ResourceHeader{Name: q.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 1 << 31}
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.HTTPSResource{SVCBResource: record}})
				}
				packed, err := m.Pack()
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/dns-message")
				w.Write(packed)
			}))
			defer s.Close()
			r, err := doh.New(doh.Options{URL: s.URL, TLS: &tls.Config{InsecureSkipVerify: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			all, err := r.Services(t.Context(), "host.test", 443)
			if describe(all) != c.want || (err != nil) != c.fails {
				t.Errorf("got %q, %v, want %q", describe(all), err, c.want)
			}
			asked := queries
			if asked > 8 {
				t.Errorf("%d queries", asked)
			}
			if _, err := r.Services(t.Context(), "host.test", 443); queries != asked || (err != nil) != c.fails {
				t.Errorf("the result was not remembered: %v", err)
			}
		})
	}
}

// TestLocalhost checks that no query contains a name of this machine.
func TestLocalhost(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("query") }))
	defer s.Close()
	r, err := doh.New(doh.Options{URL: s.URL, TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, name := range []string{"localhost", "LocalHost.", "app.localhost"} {
		if all, err := r.Services(t.Context(), name, 8443); err != nil || all != nil {
			t.Errorf("%s: services %v, %v", name, all, err)
		}
		if addrs, err := r.LookupNetIP(t.Context(), "ip", name); err != nil || len(addrs) != 2 || !addrs[0].IsLoopback() || !addrs[1].IsLoopback() {
			t.Errorf("%s: addresses %v, %v", name, addrs, err)
		}
	}
}
