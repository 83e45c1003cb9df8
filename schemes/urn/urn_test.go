package urn_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/urn"
	"github.com/anyurl/fetch/uri"
)

// TestTemplates checks the URL of each URN.
func TestTemplates(t *testing.T) {
	for _, test := range []struct{ template, urn, want string }{
		{"", "urn:ietf:rfc:2141", "redirect https://www.rfc-editor.org/rfc/rfc2141.txt"},
		{"", "URN:IETF:RFC:2141", "redirect https://www.rfc-editor.org/rfc/rfc2141.txt"},
		{"", "urn:ietf:std:66", "redirect https://www.rfc-editor.org/std/std66.txt"},
		{"", "urn:ietf:id:ietf-urn-ietf-06", "redirect https://www.ietf.org/archive/id/draft-ietf-urn-ietf-06.txt"},
		{"", "urn:ietf:rfc:2141?=a=b", "redirect https://www.rfc-editor.org/rfc/rfc2141.txt?a=b"},
		{"", "urn:ietf:rfc:2141?+r", "redirect https://www.rfc-editor.org/rfc/rfc2141.txt"},
		{"", "urn:nbn:de:101:1-2", "redirect https://nbn-resolving.org/urn:nbn:de:101:1-2"},
		{"", "urn:nbn:se:x-1", "redirect https://urn.kb.se/resolve?urn=urn:nbn:se:x-1"},
		{"", "urn:ietf:mtg:41", "unsupported: no template resolves the URN namespace ietf"},
		{"", "urn:ietf:rfc:", "unsupported: no template resolves the URN namespace ietf"},
		{"", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "unsupported: no template resolves the URN namespace uuid"},
		{"foo=http://h/uri-res/N2L?{urn}", "urn:foo:a%20b", "redirect http://h/uri-res/N2L?urn:foo:a%20b"},
		{"foo=http://h/x/{nss}.txt", "urn:FOO:a/b", "redirect http://h/x/a/b.txt"},
		{"foo=http://h/x?n={nss}&q={q}", "urn:foo:a&b=c+d?=y", "redirect http://h/x?n=a%26b%3Dc%2Bd&q=y"},
		{"foo=http://h/{r}/{nss}?{q}", "urn:foo:a?+r?=q", "redirect http://h/r/a?q"},
		{"foo=http://h/{nss}", "urn:foo:{q}", "invalid-uri"},
		{"foo=http://h/{nss}", "urn:foo:a%7Bq%7D", "redirect http://h/a%7Bq%7D"},
		{"ietf=http://h/{nss}", "urn:ietf:rfc:1", "redirect http://h/rfc:1"},
		{"foo=http://h/{nss}", "urn:foo:@evil.example", "redirect http://h/@evil.example"},
		{"foo=http://h/{nss}", "urn:foo:a?b", "invalid-uri: a component of a URN must start with ?+ or ?= and must not be empty"},
		{"foo=http://h/{nss}", "urn:foo:a?=", "invalid-uri: a component of a URN must start with ?+ or ?= and must not be empty"},
		{"foo=http://h/{nss}", "urn:foo:a?+", "invalid-uri: a component of a URN must start with ?+ or ?= and must not be empty"},
		{"foo=http://h/{nss}", "urn:foo:a?+?=b", "invalid-uri: a component of a URN must start with ?+ or ?= and must not be empty"},
		{"foo=http://h/{nss}", "urn:foo:a?+b?=", "invalid-uri: a component of a URN must start with ?+ or ?= and must not be empty"},
		{"", "urn:x:a", "invalid-uri: URN must be urn:NAMESPACE:NAME"},
		{"", "urn:-x:a", "invalid-uri: URN must be urn:NAMESPACE:NAME"},
		{"", "urn:a_b:a", "invalid-uri: URN must be urn:NAMESPACE:NAME"},
		{"", "urn:foo", "invalid-uri: URN must be urn:NAMESPACE:NAME"},
		{"", "urn:foo:", "invalid-uri: URN must be urn:NAMESPACE:NAME"},
		{"", "urn:foo:/a", "invalid-uri: URN must be urn:NAMESPACE:NAME"},
		{"", "urn://foo:1/a:b", "invalid-uri: URN must be urn:NAMESPACE:NAME"},
	} {
		u, err := fetch.ParseURL(test.urn)
		if err != nil {
			if test.want != "invalid-uri" {
				t.Errorf("%s: %v", test.urn, err)
			}
			continue
		}
		s := urn.Schemes(urn.Options{Templates: templates(t, test.template)})[0]
		if got := schemetest.Plan(s, &fetch.Request{URL: u}); got != test.want && test.want != "invalid-uri" {
			t.Errorf("%s with %q: got %s, want %s", test.urn, test.template, got, test.want)
		}
	}
}

func templates(t *testing.T, text string) []urn.Template {
	t.Helper()
	if text == "" {
		return nil
	}
	template, err := urn.ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return []urn.Template{template}
}

func TestInvalidTemplates(t *testing.T) {
	for _, text := range []string{"", "foo", "foo=", "=http://h/", "foo=/x", "foo=http:///x", "foo=http://{nss}/", "foo=http://h{nss}/",
		"foo=http://h", "foo=http://h:{nss}/", "foo=file:///{nss}", "foo=javascript://h/{nss}", "foo=http://h:99999/", "foo=http://h/ {nss}",
		"f=http://h/", "foo=http://0x7f.1/{nss}"} {
		if _, err := urn.ParseTemplate(text); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestResolver follows the redirects of a resolver with the interface of RFC
// 2169. The resolver is at a loopback address, which only the configuration may
// name. Its redirects are judged like those of other servers.
func TestResolver(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{Server: `
		location = /uri-res/N2L { if ($args = "urn:foo:1") { return 303 /doc; } if ($args = "urn:foo:again") { return 303 urn:foo:1; }
			if ($args = "urn:foo:smtp") { return 303 http://127.0.0.1:25/; } return 404 "no such name\n"; }
		location = /doc { return 200 "the document $args\n"; }`})
	c := schemetest.NewClient(t, append(http.Schemes(http.Options{}), urn.Schemes(urn.Options{Templates: templates(t, "foo=http://"+s.Addr+"/uri-res/N2L?{urn}")})...))
	for name, want := range map[string]string{"urn:foo:1": "ok", "urn:foo:2": "not-found", "urn:foo:again": "policy-redirect", "urn:foo:smtp": "policy-port"} {
		r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, name))
		if got := r.Fault(); got != want || got == "ok" && r.Body != "the document \n" {
			t.Errorf("%s: got %s, %q, %v, want %s", name, got, r.Body, r.Err, want)
		}
	}
	from := &fetch.Source{URL: uri.MustParse("http://192.0.2.1/")}
	if _, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse("urn:foo:1"), From: from}); fetch.FaultOf(err) != fetch.BadReferral {
		t.Errorf("from a page: got %v", err)
	}
}

// TestPrivateServer checks that only the server of a template may be private.
func TestPrivateServer(t *testing.T) {
	n := faultnet.NewNetwork(t)
	n.Serve("10.0.0.1:80", faultnet.Script{faultnet.Expect("GET /x"), faultnet.Send("HTTP/1.1 200 ok\r\nContent-Length: 1\r\n\r\nx")})
	web := []fetch.Scheme{{Name: "http", Port: 80, Open: func(env fetch.Env) fetch.Driver { return http.Schemes(http.Options{})[0].Open(env) }}}
	for template, want := range map[string]string{"foo=http://10.0.0.1/{nss}": "ok", "foo=http://10.0.0.1:8080/{nss}": "connect", "bar=http://10.0.0.1/{nss}": "unsupported", "foo=http://169.254.169.254/{nss}": "policy-address"} {
		c := schemetest.NewClient(t, append(web, urn.Schemes(urn.Options{Templates: templates(t, template)})...), func(o *fetch.Options) { o.Dial = n.Dial })
		if r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, "urn:foo:x")); r.Fault() != want {
			t.Errorf("%s: got %v, want %s", template, r.Err, want)
		}
	}
}

// TestUpgradedServer checks that the server of a template may be private too if
// fetch.Options.Upgrade replaces http by https, as for a host of HSTS.
func TestUpgradedServer(t *testing.T) {
	n := faultnet.NewNetwork(t)
	upgrade := func(u uri.URI) uri.URI {
		parts := u.Parts()
		if parts.Scheme == "http" {
			parts.Scheme = "https"
		}
		secure, err := uri.Build(parts)
		if err != nil {
			t.Error(err)
		}
		return secure
	}
	for template, want := range map[string]string{"foo=http://10.0.0.1/{nss}": "connect", "foo=http://10.0.0.1:8080/{nss}": "connect", "foo=http://169.254.169.254/{nss}": "policy-address"} {
		schemes := append(http.Schemes(http.Options{}), urn.Schemes(urn.Options{Templates: templates(t, template)})...)
		c := schemetest.NewClient(t, schemes, func(o *fetch.Options) { o.Dial, o.Upgrade = n.Dial, upgrade })
		if r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, "urn:foo:x")); r.Fault() != want {
			t.Errorf("%s: got %v, want %s", template, r.Err, want)
		}
	}
}

// FuzzResolve checks that every URN leads to the server of its template.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"1", "a?+b?=c", "//h", "@h", "%2f", "{q}", "a?=//x"} {
		f.Add("urn:foo:" + s)
	}
	template, err := urn.ParseTemplate("foo=http://h/{nss}/{r}?n={nss}&q={q}")
	if err != nil {
		f.Fatal(err)
	}
	s := urn.Schemes(urn.Options{Templates: []urn.Template{template}})[0]
	f.Fuzz(func(t *testing.T, text string) {
		u, err := fetch.ParseURL(text)
		if err != nil || !strings.HasPrefix(u.String(), "urn:foo:") {
			return
		}
		steps, err := s.Plan(&fetch.Request{URL: u})
		if err != nil {
			if fetch.FaultOf(err) != fetch.BadURL {
				t.Errorf("got %v", err)
			}
			return
		}
		if !strings.HasPrefix(steps[0].Arg, "http://h/") || strings.ContainsAny(steps[0].Arg, "\r\n #") {
			t.Errorf("%s: %s", u, steps[0].Arg)
		}
	})
}
