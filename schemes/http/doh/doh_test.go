package doh_test

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// TestServer resolves names with dnsdist and unbound.
func TestServer(t *testing.T) {
	s := peer.DNS(t, "four.test. A 127.0.0.1", "six.test. AAAA ::1", "both.test. A 192.0.2.1", "both.test. AAAA 2001:db8::1",
		"alias.test. CNAME both.test.", "empty.test. TXT x")
	r, err := doh.New(doh.Options{URL: "https://" + s.TLSAddr + "/dns-query", TLS: &tls.Config{RootCAs: s.Cert.Pool}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		name, network, host, want string
		fault                     fetch.Fault
	}{
		{"IPv4", "ip", "four.test", "127.0.0.1", 0},
		{"IPv6", "ip", "six.test.", "::1", 0},
		{"both", "ip", "BOTH.test", "192.0.2.1 2001:db8::1", 0},
		{"only IPv4", "ip4", "both.test", "192.0.2.1", 0},
		{"only IPv6", "ip6", "both.test", "2001:db8::1", 0},
		{"localhost is not sent", "ip", "localhost", "127.0.0.1 ::1", 0},
		{"no address", "ip", "empty.test", "", fetch.DNS},
		{"no such name", "ip", "none.test", "", fetch.DNS},
		{"name too long", "ip", strings.Repeat("a.", 200), "", fetch.DNS},
		{"label too long", "ip", strings.Repeat("a", 64) + ".test", "", fetch.DNS},
	} {
		addrs, err := r.LookupNetIP(t.Context(), c.network, c.host)
		if text := join(addrs); text != c.want || err != nil && fetch.FaultOf(err) != c.fault || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, text, err, c.want)
		}
	}
}

func join(addrs []netip.Addr) string {
	var all []string
	for _, a := range addrs {
		all = append(all, a.String())
	}
	return strings.Join(all, " ")
}

// TestHostileAnswers checks answers that a DNS server must not send.
func TestHostileAnswers(t *testing.T) {
	name := dnsmessage.MustNewName("host.test.")
	header := func(n string, kind dnsmessage.Type) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(n), Type: kind, Class: dnsmessage.ClassINET}
	}
	alias := func(from, to string) dnsmessage.Resource {
		return dnsmessage.Resource{Header: header(from, dnsmessage.TypeCNAME), Body: &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(to)}}
	}
	address := func(n string, last byte) dnsmessage.Resource {
		return dnsmessage.Resource{Header: header(n, dnsmessage.TypeA), Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, last}}}
	}
	answer := func(change func(*dnsmessage.Message), all ...dnsmessage.Resource) []byte {
		m := dnsmessage.Message{Header: dnsmessage.Header{Response: true}, Answers: all,
			Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
		if change != nil {
			change(&m)
		}
		b, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var many []dnsmessage.Resource
	for range 2000 {
		many = append(many, address("host.test.", 1))
	}
	for _, c := range []struct {
		name, media string
		body        []byte
		want        string
		fault       fetch.Fault
	}{
		{"good", "", answer(nil, address("host.test.", 1)), "192.0.2.1", 0},
		{"chain", "", answer(nil, alias("host.test.", "b.test."), alias("b.test.", "C.test."), address("c.test.", 1)), "192.0.2.1", 0},
		{"more records than the limit", "", answer(nil, many...), strings.TrimSpace(strings.Repeat("192.0.2.1 ", 256)), 0},
		{"loop", "", answer(nil, alias("host.test.", "b.test."), alias("b.test.", "host.test.")), "", fetch.DNS},
		{"loop with itself", "", answer(nil, alias("host.test.", "host.test.")), "", fetch.DNS},
		{"address of another name", "", answer(nil, address("other.test.", 1)), "", fetch.DNS},
		{"another question", "", answer(func(m *dnsmessage.Message) { m.Questions[0].Name = dnsmessage.MustNewName("x.test.") }), "", fetch.DNS},
		{"no question", "", answer(func(m *dnsmessage.Message) { m.Questions = nil }), "", fetch.DNS},
		{"a query", "", answer(func(m *dnsmessage.Message) { m.Response = false }), "", fetch.DNS},
		{"failure", "", answer(func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeServerFailure }), "", fetch.DNS},
		{"truncated", "", answer(nil, address("host.test.", 1))[:40], "", fetch.DNS},
		{"empty", "", []byte{}, "", fetch.DNS},
		{"another media type", "text/html", answer(nil, address("host.test.", 1)), "", fetch.DNS},
		{"too large", "", make([]byte, 1<<20), "", fetch.DNS},
		{"missing page", "404", nil, "", fetch.DNS},
		{"login", "401", nil, "", fetch.DNS},
		{"forbidden", "403", nil, "", fetch.DNS},
		{"too many queries", "429", nil, "", fetch.TryLater},
		{"redirect", "302", nil, "", fetch.DNS},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if b, err := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns")); err != nil || len(b) < 12 || b[0] != 0 || b[1] != 0 {
					t.Errorf("query %x, %v", b, err)
				}
				switch c.media {
				case "401", "403", "404", "429":
					code, _ := strconv.Atoi(c.media)
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(code)
				case "302":
					http.Redirect(w, r, "/", http.StatusFound)
				case "":
					w.Header().Set("Content-Type", "application/dns-message")
				default:
					w.Header().Set("Content-Type", c.media)
				}
				w.Write(c.body)
			}))
			defer s.Close()
			r, err := doh.New(doh.Options{URL: s.URL + "/dns-query?a=b", TLS: &tls.Config{InsecureSkipVerify: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			addrs, err := r.LookupNetIP(t.Context(), "ip4", "host.test")
			if join(addrs) != c.want || (err != nil) != (c.want == "") || err != nil && fetch.FaultOf(err) != c.fault {
				t.Errorf("got %v, %v, want %q and %v", addrs, err, c.want, c.fault)
			}
			if e, ok := errors.AsType[*fetch.Error](err); ok && (c.fault == fetch.DNS || e.Code != 0 || e.RetryAfter != 7*time.Second) {
				t.Errorf("the error has the code %d of the DNS server, and the pause %v", e.Code, e.RetryAfter)
			}
		})
	}
	for _, url := range []string{"http://dns.test/", "alice:secret@dns.test/"} {
		if _, err := doh.New(doh.Options{URL: url}); fetch.FaultOf(err) != fetch.Usage || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}
