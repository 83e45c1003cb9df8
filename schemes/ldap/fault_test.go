package ldap_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/schemes/ldap"
	"github.com/anyurl/fetch/uri"
)

// TestFaults checks the fault and the time limit for each error of a server or
// the network.
func TestFaults(t *testing.T) {
	const soon = time.Second
	one := entry(1, "dc=x", "a", "b")
	text := "version: 1\n\ndn: dc=x\na: b\n"
	for _, c := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
		took        time.Duration
	}{
		{"refused", faultnet.Script{faultnet.Refuse()}, "connect", "", soon},
		{"closed without an answer", faultnet.Script{readRequest}, "connect", "", soon},
		{"silent", faultnet.Script{readRequest, faultnet.Stall()}, "timeout", "", 2 * time.Minute},
		{"a line of text", answers("HTTP/1.1 400 Bad Request\r\n\r\n"), "truncated", "", soon},
		{"an entry", answers(one + done(1, 5, 0, "")), "ok", text, soon},
		{"an intermediate response", answers(message(1, 25) + one + done(1, 5, 0, "")), "ok", text, soon},
		{"cut in an entry", answers(one[:9]), "truncated", "", soon},
		{"closed after an entry", answers(one), "truncated", text, soon},
		{"reset after an entry", append(answers(one), faultnet.Reset()), "truncated", text, soon},
		{"error after an entry", answers(one + done(1, 5, 80, "back\x1b[2J end")), "server-perm", text, soon},
		{"busy", answers(done(1, 5, 51, "")), "server-temp", "", soon},
		{"login required", answers(done(1, 5, 50, "")), "auth", "", soon},
		{"strong authentication required", answers(done(1, 5, 8, "")), "auth", "", soon},
		{"unknown code", answers(done(1, 5, 70000, "")), "server-perm", "", soon},
		{"negative code", answers(done(1, 5, -1, "")), "server-perm", "", soon},
		{"no entry", answers(done(1, 5, 0, "")), "not-found", "", soon},
		{"answer to another message", answers(entry(2, "dc=x", "a", "b")), "protocol", "", soon},
		{"notice of disconnection", answers(done(0, 24, 52, "going down")), "server-temp", "", soon},
		{"a bind response", answers(done(1, 1, 0, "")), "protocol", "", soon},
		{"attribute with a line break", answers(entry(1, "dc=x", "a\ndn", "b")), "protocol", "version: 1\n\ndn: dc=x\n", soon},
		{"value with a line break", answers(entry(1, "dc=x", "a", "b\ndn: y") + done(1, 5, 0, "")), "ok", "version: 1\n\ndn: dc=x\na:: YgpkbjogeQ==\n", soon},
		{"odd values", answers(entry(1, "dc=x", "a", "", " b", "b ", ":b", "<b") + done(1, 5, 0, "")), "ok",
			"version: 1\n\ndn: dc=x\na: \na:: IGI=\na:: YiA=\na:: OmI=\na:: PGI=\n", soon},
		{"entry with a name of 20 KiB", answers(entry(1, strings.Repeat("x", 20<<10), "a")), "protocol", "", soon},
		{"2 GiB announced", answers("\x30\x84\x7f\xff\xff\xff"), "protocol", "", soon},
		{"nested without end", answers(strings.Repeat("\x30\x80", 100)), "protocol", "", soon},
		{"message without an operation", answers(string(ber.SequenceOf([]byte{2, 1, 1}))), "protocol", "", soon},
		{"result without a code", answers(message(1, 5)), "protocol", "", soon},
		{"referral without a URL", answers(done(1, 5, 10, "", "http://h.example/")), "protocol", "", soon},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := serve(t, c.script)
				schemetest.Exchange(t.Context(), client, schemetest.NewRequest(t, host+"dc=x")).Check(t, c.fault, c.body, c.took)
				client.Close()
				s.Close()
			})
		})
	}
}

// TestReferrals checks where the referrals of a public server lead.
func TestReferrals(t *testing.T) {
	public := "ldap://198.41.0.4/dc=x"
	for _, test := range []struct {
		name, referral string
		want           string // the location, or the fault of following it
	}{
		{"another public server", "ldap://198.41.0.5/dc=y", "connect"},
		{"private address", "ldap://10.0.0.1/dc=y", "policy-address"},
		{"loopback", "ldap://127.0.0.1/dc=y", "policy-address"},
		{"metadata", "ldap://169.254.169.254/dc=y", "policy-address"},
		{"port of another service", "ldap://198.41.0.5:25/dc=y", "policy-port"},
		{"itself", "ldap://198.41.0.4/dc=x", "loop"},
		{"another scheme", "http://198.41.0.5/", "protocol"},
		{"a local file", "file:///etc/passwd", "protocol"},
		{"no host", "ldap:///dc=y", "protocol"},
	} {
		n := faultnet.NewNetwork(t)
		n.Serve("198.41.0.4:389", answers(done(1, 5, 10, "", "mailto:a", test.referral), done(2, 5, 10, "", test.referral)))
		n.Serve("198.41.0.5:389", faultnet.Script{faultnet.Refuse()})
		c := schemetest.NewClient(t, schemes(), func(o *fetch.Options) { o.Dial = n.Dial })
		_, _, err := schemetest.Read(t, c, public)
		if got := fetch.FaultOf(err).String(); got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.name, got, err, test.want)
		}
		for _, d := range n.Dialed() {
			if !strings.HasPrefix(d.To.String(), "198.41.0.") {
				t.Errorf("%s: connected to %v", test.name, d)
			}
		}
	}
}

// TestLocation checks that the missing parts of a referral come from the URL of
// the request.
func TestLocation(t *testing.T) {
	for referral, want := range map[string]string{
		"ldap://h.example":             "ldap://h.example/dc=x?cn?sub?(a=b)",
		"ldap://u:p@h.example/dc=y#f":  "ldap://h.example/dc=y?cn?sub?(a=b)",
		"ldaps://h.example/dc=y??base": "ldaps://h.example/dc=y??base",
	} {
		c, _ := serve(t, answers(done(1, 5, 10, "", referral)))
		resp, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse(host + "dc=x?cn?sub?(a=b)"), NoFollow: true})
		if err != nil || resp.Location.Unredacted() != want {
			t.Errorf("%s: got %+v, %v, want %s", referral, resp, err, want)
		}
	}
}

// TestReferences lists references to other servers, and requests one of them.
func TestReferences(t *testing.T) {
	n := faultnet.NewNetwork(t)
	n.Serve("198.41.0.4:389", answers(entry(1, "dc=x", "a", "b")+message(1, 19, octets("ldap://10.0.0.1/dc=y??sub"), octets("not a\nURL\x1b"))+done(1, 5, 0, "")))
	c := schemetest.NewClient(t, schemes(), func(o *fetch.Options) { o.Dial = n.Dial })
	all, err := schemetest.List(t, c, "ldap://198.41.0.4/dc=x??sub")
	if err != nil || len(all) != 3 || all[1].URL.String() != "ldap://10.0.0.1/dc=y??sub" || all[1].Kind != fetch.Menu || all[2].Name != "not%20a%0AURL%1B" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if _, err := c.Do(t.Context(), all[1].Request()); !errors.Is(err, fetch.BadAddress) {
		t.Errorf("got %v, want BadAddress", err)
	}
}

// TestStartTLS checks that bytes after the response to StartTLS are rejected.
func TestStartTLS(t *testing.T) {
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:389", answers(done(1, 24, 0, "")+entry(2, "dc=x", "a", "b")))
	c := schemetest.NewClient(t, ldap.Schemes(ldap.Options{TLS: scheme.TLSWanted}), func(o *fetch.Options) { o.Dial = n.Dial })
	if _, _, err := schemetest.Read(t, c, host+"dc=x"); !errors.Is(err, fetch.TLS) {
		t.Errorf("got %v", err)
	}
}

// TestPlaintext checks the notes about a password that is not encrypted.
func TestPlaintext(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    scheme.TLSMode
		replies []string
		notes   []string
	}{
		{"login rejected", scheme.TLSDefault, []string{done(1, 1, 49, "")}, []string{"the password was sent in plaintext"}},
		{"no TLS", scheme.TLSDefault, []string{done(1, 1, 0, ""), entry(2, "dc=x", "a", "b") + done(2, 5, 0, "")}, []string{"the password was sent in plaintext"}},
		{"StartTLS rejected", scheme.TLSWanted, []string{done(1, 24, 52, ""), done(2, 1, 0, ""), entry(3, "dc=x", "a", "b") + done(3, 5, 0, "")},
			[]string{"the connection is not encrypted: ", "the password was sent in plaintext"}},
	} {
		n := faultnet.NewNetwork(t)
		n.Serve("192.0.2.1:389", answers(c.replies...))
		client := schemetest.NewClient(t, ldap.Schemes(ldap.Options{TLS: c.mode}), func(o *fetch.Options) { o.Dial = n.Dial })
		var notes []string
		req := &fetch.Request{URL: uri.MustParse(host + "dc=x"), Auth: &fetch.Credential{User: "cn=a", Password: "secret"},
			Trace: &trace.Trace{Note: func(text string) { notes = append(notes, text) }}}
		resp, err := client.Do(t.Context(), req)
		if err == nil {
			resp.Body.Close()
		} else if !errors.Is(err, fetch.Auth) || len(c.replies) > 1 {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !slices.EqualFunc(notes, c.notes, strings.HasPrefix) {
			t.Errorf("%s: notes %q, want %q", c.name, notes, c.notes)
		}
	}
}

// TestPlan checks plans, and that the password is not in them.
func TestPlan(t *testing.T) {
	all := ldap.Schemes(ldap.Options{TLS: scheme.TLSRequired})
	nested := func(levels int) string {
		return strings.Repeat("(!", levels-1) + "(a=b)" + strings.Repeat(")", levels-1)
	}
	for url, want := range map[string]string{
		host + "dc=x":                   `starttls; search base "dc=x" (objectClass=*)`,
		"ldaps://h/dc=x?cn?one?(a=b)":   `search one "dc=x" (a=b) cn`,
		"x500://h/c=GB/o=A%20B":         `starttls; search base "o=A B,c=GB" (objectClass=*)`,
		host:                            `starttls; search base "" (objectClass=*) * +`,
		host + "dc=x????bindname=cn=a":  `starttls; search base "dc=x" (objectClass=*)`,
		host + "dc=x???" + nested(50):   `starttls; search base "dc=x" ` + nested(50),
		host + "dc=x???" + nested(51):   "invalid-uri: the filter of the URL has more than 50 levels",
		host + "dc=x????!bindname=cn=a": `starttls; search base "dc=x" (objectClass=*)`,
	} {
		req := schemetest.NewRequest(t, url)
		for _, s := range all {
			if s.Name == req.URL.Scheme() {
				if got := schemetest.Plan(s, req); got != want {
					t.Errorf("%s: got %s, want %s", url, got, want)
				}
			}
		}
	}
	req := schemetest.NewRequest(t, host+"dc=x")
	req.Auth = &fetch.Credential{User: "cn=a", Password: "s3cret"}
	if got := schemetest.Plan(all[0], req); got != `starttls; bind cn=a; search base "dc=x" (objectClass=*)` {
		t.Errorf("got %s", got)
	}
}
