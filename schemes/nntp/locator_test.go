package nntp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// TestPlan tests the planned commands for each form of URL.
func TestPlan(t *testing.T) {
	const overview = "; LIST OVERVIEW.FMT; OVER 1- (else XOVER)"
	for _, c := range []struct {
		url   string
		want  string // planned commands after CAPABILITIES
		opts  Options
		op    fetch.Op
		since time.Time
	}{
		// RFC 1738 3.6 and 3.7, RFC 5538.
		{url: "news:comp.infosystems.www.misc", want: "GROUP comp.infosystems.www.misc" + overview},
		{url: "news:*", want: "LIST ACTIVE * (else LIST)"},
		{url: "news:1234@example.org", want: "ARTICLE <1234@example.org>"},
		{url: "nntp://h/comp.lang.c/12", want: "GROUP comp.lang.c; ARTICLE 12"},
		{url: "nntp://h/comp.lang.c", want: "GROUP comp.lang.c" + overview},
		{url: "news://h/comp.lang.c", want: "GROUP comp.lang.c" + overview},
		{url: "news://h/1@x", want: "ARTICLE <1@x>"},
		{url: "snews://h/comp.*", want: "LIST ACTIVE comp.* (else LIST)"},
		{url: "news://h", want: "LIST ACTIVE * (else LIST)"},
		{url: "news://h/", want: "LIST ACTIVE * (else LIST)"},
		{url: "news:", want: "LIST ACTIVE * (else LIST)"},
		{url: "nntp:comp.lang.c/12", want: "GROUP comp.lang.c; ARTICLE 12"}, // RFC 1630
		// Characters of message-ids. RFC 1738 5 allows some of them without
		// escaping.
		{url: "news:a/b?c:d;e&f=g@x", want: "ARTICLE <a/b?c:d;e&f=g@x>"},
		{url: "news:%22a%23b%22@[1.2.3.4]", want: "", op: 99}, // brackets must be escaped
		{url: "news:%22a%23b%22@%5B1.2.3.4%5D", want: `ARTICLE <"a#b"@[1.2.3.4]>`},
		{url: "news:a%25b@x", want: "ARTICLE <a%b@x>"},
		{url: "news:a+b%2Bc@x", want: "ARTICLE <a+b+c@x>"},
		{url: "news:%3Ca@x%3E", want: "ARTICLE <a@x>"},
		{url: "news:a%40x", want: "ARTICLE <a@x>"},
		{url: "news:A@X#fragment", want: "ARTICLE <A@X>"},
		// Groups, numbers, ranges, wildmats.
		{url: "news:comp.lang.c++", want: "GROUP comp.lang.c++" + overview},
		{url: "news:caf%C3%A9", want: "GROUP café" + overview},
		{url: "nntp://h/comp.lang.c/", want: "GROUP comp.lang.c" + overview},
		{url: "nntp://h/g/0012", want: "GROUP g; ARTICLE 12"},
		{url: "nntp://h/g/%31", want: "GROUP g; ARTICLE 1"},
		{url: "nntp://h/g/7-20", want: "GROUP g; LISTGROUP g 7-20; ARTICLE each"},
		{url: "nntp://h/g/7-7", want: "GROUP g; LISTGROUP g 7; ARTICLE each"},
		{url: "nntp://h/g/7-", want: "GROUP g; LISTGROUP g 7-; ARTICLE each"},
		{url: "news:g/7", want: "GROUP g; ARTICLE 7"},
		{url: "news:comp.%3F,!comp.os*", want: "LIST ACTIVE comp.?,!comp.os* (else LIST)"},
		{url: "news:comp.os?x", want: "LIST ACTIVE comp.os?x (else LIST)"},
		// Views, operations and options.
		{url: "news:1@x", want: "HEAD <1@x>", op: fetch.Stat},
		{url: "nntp://h/g/7", want: "GROUP g; HEAD 7", op: fetch.Stat},
		{url: "nntp://h/g", want: "GROUP g", op: fetch.Stat},
		{url: "nntp://h/g/7-9", want: "GROUP g", op: fetch.Stat},
		{url: "news:*", want: "", op: fetch.Stat},
		{url: "news:1@x", want: "HEAD <1@x>", opts: Options{View: Head}},
		{url: "nntp://h/g/7", want: "GROUP g; BODY 7", opts: Options{View: Body}},
		{url: "nntp://h/g/7-8", want: "GROUP g; LISTGROUP g 7-8; HEAD each", opts: Options{View: Head}},
		{url: "nntp://h/g/7-8", want: "GROUP g; LIST OVERVIEW.FMT; OVER 7-8 (else XOVER)", opts: Options{View: Overview}},
		{url: "news:1@x", want: "HEAD <1@x>", opts: Options{View: Overview}},
		{url: "nntp://h/g", want: "GROUP g; LISTGROUP g 1-; ARTICLE each", opts: Options{View: Articles}},
		{url: "nntp://h/g", want: "GROUP g" + overview, opts: Options{View: Head}},
		{url: "nntp://h/g", want: "GROUP g; HDR :bytes 1- (else XHDR)", opts: Options{Field: ":bytes"}},
		{url: "news:a.*", want: "LIST NEWSGROUPS a.*", opts: Options{Describe: true}},
		{url: "news:a.*", want: "NEWGROUPS 20260102 030405 GMT", since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{
			url:   "news:a",
			want:  "NEWNEWS a 20260102 030405 GMT (else OVER)",
			since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		{url: "nntp://h/g", want: "STARTTLS; GROUP g" + overview, opts: Options{TLS: scheme.TLSWanted}},
		{url: "nntps://h/g", want: "GROUP g" + overview, opts: Options{TLS: scheme.TLSWanted}},
		{url: "nntp://h/g", want: "GROUP g" + overview, opts: Options{TLS: scheme.TLSNever}},
	} {
		req := &fetch.Request{Op: c.op, Since: c.since}
		var err error
		if req.URL, err = uri.Parse(c.url); err != nil {
			if c.want != "" {
				t.Errorf("%s: %v", c.url, err)
			}
			continue
		}
		steps, err := c.opts.plan(req, strings.HasSuffix(req.URL.Scheme(), "s") && req.URL.Scheme() != "news")
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		var got []string
		for _, s := range steps[1:] {
			got = append(got, s.String())
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s %+v: got %q, want %q", c.url, c.opts, got, c.want)
		}
		if s := steps[0].String(); s != "CAPABILITIES (else MODE READER)" {
			t.Errorf("%s: first command is %q", c.url, s)
		}
	}
	for mode, want := range map[scheme.TLSMode]string{scheme.TLSDefault: "STARTTLS ", scheme.TLSNever: ""} {
		want = "[CAPABILITIES (else MODE READER) " + want +
			"AUTHINFO USER u (else AUTHINFO SASL PLAIN) AUTHINFO PASS *** ARTICLE <1@x>]"
		steps, err := Options{TLS: mode}.plan(
			&fetch.Request{URL: uri.MustParse("news:1@x"), Auth: &fetch.Credential{User: "u", Password: "secret"}}, false,
		)
		if got := fmt.Sprint(steps); err != nil || got != want {
			t.Errorf("login: got %s, %v, want %s", got, err, want)
		}
	}
}

func TestInvalidURLs(t *testing.T) {
	for _, url := range []string{
		"news:a%0D%0AQUIT@x", "news:a@x%0A", "news:a%20b@x", "news:a%00@x", "news:a%09@x", "news:%3Ca@x", "news:a%3E@x",
		"news:@x", "news:a@",
		"news:caf%C3%A9@x", "news:a%7F@x", "news:" + strings.Repeat("a", 250) + "@x",
		"news:a%0D%0AQUIT", "news:a%20b", "news:a%09b", "news:a%5Bb%5D", "news:a%5Cb", "news:%FF", "news:.", "news:%2E.",
		"nntp://h/../7", "news:a%E2%80%AE", "news:a%C2%85", "news:" + strings.Repeat("a", 461),
		"news:a,,b", "news:,", "news:!", "news:a%2C", "news:*%0D%0AQUIT", "news:" + strings.Repeat("a,", 240) + "b",
		"nntp://h/g/x", "nntp://h/g/7/8", "nntp://h/g/-7", "nntp://h/g/-", "nntp://h/g/7-8-9", "nntp://h/g/9-8",
		"nntp://h/g/7%20", "nntp://h/g/+7", "nntp://h/g/0", "nntp://h/g/0-7",
		"nntp://h/g/12345678901234567", "nntp://h/*/7", "nntp://h//7", "nntp://h/g/7%0D%0AQUIT", "nntp://h/g/7?x",
	} {
		u, err := uri.Parse(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if l, err := parseLocator(u); fetch.FaultOf(err) != fetch.BadURL {
			t.Errorf("%s: got %+v, %v", url, l, err)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, c := range []struct {
		server, url, want string
	}{
		{"", "news://Host.Example/x", "host.example:119"},
		{"", "snews://h/x", "h:563 tls"},
		{"", "nntps://h:119/x", "h:119 tls"},
		{"", "nntp://[::1]/x", "[::1]:119"},
		{"news.example", "news:x", "news.example:119"},
		{"news.example", "news:///x", "news.example:119"},
		{"news.example", "snews:x", "news.example:563 tls"},
		{"news.example:1119", "news:x", "news.example:1119"},
		{"news.example:1119", "nntps:x", "news.example:1119 tls"},
		{"[::1]:1119", "news:x", "[::1]:1119"},
		{"snews://news.example/", "news:x", "news.example:563 tls"},
		{"nntp://news.example", "snews:x", "news.example:563 tls"},
		{"news.example", "nntp://other/x", "other:119"},
		{"", "news:x", "usage"},
		{"http://news.example", "news:x", "usage"},
		{"news://u:p@news.example", "news:x", "usage"},
		{"news.example/group", "news:x", "usage"},
		{"a b", "news:x", "usage"},
		{"news.example:99999", "news:x", "policy-port"},
	} {
		u := uri.MustParse(c.url)
		implicit := u.Scheme() == "snews" || u.Scheme() == "nntps"
		o := Options{Server: c.server}
		endpoint, err := o.endpointOf(u, implicit)
		got := fetch.FaultOf(err).String()
		if err == nil {
			if got = endpoint.Address(); endpoint.implicitTLS {
				got += " tls"
			}
		}
		if got != c.want {
			t.Errorf("%s with server %q: got %s, want %s", c.url, c.server, got, c.want)
		}
		if err != nil && strings.Contains(err.Error(), ":p@") {
			t.Errorf("password in %v", err)
		}
		// The scheme trusts the endpoint of Options.Server.
		for _, s := range Schemes(o) {
			if s.Name == u.Scheme() && u.Host() == "" && err == nil && (len(s.Trust) != 1 || s.Trust[0] != endpoint.Address()) {
				t.Errorf("%s with server %q: trusts %v", c.url, c.server, s.Trust)
			}
		}
	}
}

func TestMatchWildmat(t *testing.T) {
	for _, c := range []struct {
		wildmat, name string
		want          bool
	}{
		{"*", "a.b", true},
		{"*", "", true},
		{"a.*", "a.b", true},
		{"a.*", "b.a", false},
		{"a.?", "a.b", true},
		{"a.?", "a.é", true},
		{"a.?", "a.bc", false},
		{"*??bc", "☎bc", false}, // "?" matches one character of three bytes
		{"a.?", "a.", false},
		{"*a*b*", "xxaxxbxx", true},
		{"*a*b", "abab", true},
		{"*a*b", "aba", false},
		{"a", "a", true},
		{"a", "ab", false},
		{"", "", true},
		{"*,!a.*", "a.b", false},
		{"*,!a.*,a.b", "a.b", true},
		{"!a.*,*", "a.b", true},
		{"!a", "b", false},
		{"a,b", "b", true},
	} {
		if got := matchWildmat(c.wildmat, c.name); got != c.want {
			t.Errorf("matchWildmat(%q, %q) = %v", c.wildmat, c.name, got)
		}
	}
	// The time is limited to the product of both lengths.
	if matchWildmat(strings.Repeat("*a", 200)+"b", strings.Repeat("a", 100_000)) {
		t.Error("matched")
	}
}

// FuzzMessageID checks that a valid message-id fits into one command, and that
// its URL is parsed to the same message-id.
func FuzzMessageID(f *testing.F) {
	for _, id := range []string{"a@b", "<a@b>", `"a b"@c`, "a/b?c#d%e@[1.2.3.4]", "a\r\nb@c", "@", "<<a@b>>", "é@x"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := parseID(s)
		if err != nil {
			return
		}
		if len(id) > maxID || strings.ContainsAny(id, " \t\r\n\x00") || id[0] != '<' || id[len(id)-1] != '>' ||
			strings.ContainsAny(id[1:len(id)-1], "<>") {
			t.Errorf("parseID(%q) = %q", s, id)
		}
		n := urlBuilder{base: uri.MustParse("news:x")}
		u := n.articleURL("", id)
		if l, err := parseLocator(u); err != nil || l.kind != kindMessageID || l.id != id {
			t.Errorf("%q as %s names %+v, %v", id, u, l, err)
		}
	})
}

// FuzzMatchPattern compares matchPattern with a naive implementation.
func FuzzMatchPattern(f *testing.F) {
	f.Add("*a?b,!a*", "xayb")
	f.Add("*??bc", "\ue080bc")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if strings.Contains(pattern, ",") || strings.Count(pattern, "*") > 3 || len(name) > 40 {
			return
		}
		if got, want := matchPattern(pattern, name), naiveMatch(pattern, name); got != want {
			t.Errorf("matchPattern(%q, %q) = %v", pattern, name, got)
		}
	})
}

func naiveMatch(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	rest := pattern[1:]
	switch {
	case pattern[0] == '*':
		return naiveMatch(rest, name) || name != "" && naiveMatch(pattern, skipRune(name))
	case name == "":
		return false
	case pattern[0] == '?':
		return naiveMatch(rest, skipRune(name))
	}
	return pattern[0] == name[0] && naiveMatch(rest, name[1:])
}

// skipRune returns name without its first character.
func skipRune(name string) string {
	for i := range name {
		if i > 0 {
			return name[i:]
		}
	}
	return ""
}
