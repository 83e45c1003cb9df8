package iri_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

func TestUnicode(t *testing.T) {
	for _, c := range []struct{ name, host, want string }{
		{"plain", "Example.org", "Example.org"},
		{"empty", "", ""},
		{"address", "[::1]", "[::1]"},
		{"Latin", "xn--mller-kva.de", "müller.de"},
		{"capitals", "XN--MLLER-KVA.De", "müller.De"},
		{"Cyrillic", "xn--80aealotwbjpid2k.xn--p1ai", "правительство.рф"},
		{"Cyrillic of common letters", "xn--80adxhks.xn--p1ai", "москва.рф"},
		{"Arabic", "xn--4gbrim.xn----ymcbaaajlc6dj7bxne2c.xn--wgbh1c", "موقع.وزارة-الاتصالات.مصر"},
		{"Han", "xn--1lq90ic7fzpc.xn--fiqz9s", "北京大学.中國"},
		{"Japanese scripts together", "xn--r8jz45g.xn--zckzah", "例え.テスト"},
		{"Cyrillic that looks Latin", "xn--80ak6aa92e.com", "xn--80ak6aa92e.com"},
		{"Latin with one Cyrillic letter", "xn--pypal-4ve.com", "xn--pypal-4ve.com"},
		{"a slash of another kind", "xn--acom-3k6a.org", "xn--acom-3k6a.org"},
		{"no letters", "xn--qei.com", "xn--qei.com"},
		{"one label of two", "xn--80ak6aa92e.xn--mller-kva.de", "xn--80ak6aa92e.müller.de"},
		{"ASCII in punycode", "xn--example-.com", "xn--example-.com"},
		{"not what encodes to the same", "xn--mller-kvA-.de", "xn--mller-kvA-.de"},
		{"no punycode", "xn--\xff.de", "xn--\xff.de"},
		{"long", "xn--" + strings.Repeat("a", 1<<16), "xn--" + strings.Repeat("a", 1<<16)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := iri.Unicode(c.host); got != c.want {
				t.Errorf("Unicode(%.40q) = %.40q, want %.40q", c.host, got, c.want)
			}
		})
	}
}

func TestUnicodeScripts(t *testing.T) {
	for _, c := range []struct {
		label string
		shown bool
	}{
		{"ümlaut-1", true}, {"한국어", true}, {"한漢", true}, {"ㄅ漢", true}, {"かカ漢", true}, {"ㄅ한", false}, {"かa", false},
		{"עברית", true}, {"हिन्दी", true}, {"ไทย", true}, {"αβγ", true}, {"ανα", false}, {"ѕсоре", false},
		{"ᏣᎳᎩ", false}, {"x\u0335y", false}, {"❤", false}, {"a❤", false}, {"a·b", false}, {"l·l", false},
	} {
		u, err := iri.Parse("x://" + c.label + "/")
		if err != nil {
			t.Errorf("%q: %v", c.label, err)
			continue
		}
		if got := iri.Unicode(u.Host()); (got == c.label) != c.shown || !c.shown && got != u.Host() {
			t.Errorf("%q is shown as %q", c.label, got)
		}
	}
}

func TestDisplay(t *testing.T) {
	for _, c := range []struct{ name, uri, want string }{
		{"nothing", "", ""},
		{"plain", "http://example.org:80/a?b#c", "http://[example.org]:80/a?b#c"},
		{"no authority", "mailto:a@b", "mailto:a@b"},
		{"empty authority", "file:///a", "file:///a"},
		{"relative", "//h/p", "//[h]/p"},
		{"user name that looks like a host", "http://www.example.com&story=breaking_news@10.0.0.1/top_story.htm",
			"http://{www.example.com&stor…@}[10.0.0.1]/top_story.htm< (host: 10.0.0.1)>"},
		{"user", "ftp://anonymous@h/", "ftp://{anonymous@}[h]/"},
		{"password", "ftp://u:secret@h/", "ftp://{u:***@}[h]/"},
		{"empty password and port", "ftp://u:@h:/", "ftp://{u:***@}[h]:/"},
		{"password that looks like a port and a path", "http://www.example.com:80%2F@10.0.0.1", "http://{www.example.com:***@}[10.0.0.1]< (host: 10.0.0.1)>"},
		{"encoded dot in the user name", "http://www%2Eexample@h/", "http://{www%2Eexample@}[h]/< (host: h)>"},
		{"user name of 21 characters", "http://aaaaaaaaaaaaaaaaaaaaa@h/", "http://{aaaaaaaaaaaaaaaaaaaa…@}[h]/< (host: h)>"},
		{"user name of 20 characters", "http://aaaaaaaaaaaaaaaaaaaa@h/", "http://{aaaaaaaaaaaaaaaaaaaa@}[h]/"},
		{"empty user name", "http://@h/", "http://{@}[h]/"},
		{"encoded control characters", "http://h/%1b%E2%80%AE", "http://[h]/%1b%E2%80%AE"},
		{"letters", "http://xn--mller-kva.de/", "http://[xn--mller-kva.de]/< (müller.de)>"},
		{"decoded host and user name", "http://a.b@xn--mller-kva.de/", "http://{a.b@}[xn--mller-kva.de]/< (host: xn--mller-kva.de, müller.de)>"},
		{"host with misleading letters", "http://xn--80ak6aa92e.com/", "http://[xn--80ak6aa92e.com]/"},
		{"IP literal", "http://[::1]:80/", "http://[[::1]]:80/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := uri.MustParse(c.uri)
			var got string
			marks := map[iri.Role]string{iri.Plain: "%s", iri.Userinfo: "{%s}", iri.Host: "[%s]", iri.Note: "<%s>"}
			for _, s := range iri.Segments(u) {
				got += fmt.Sprintf(marks[s.Role], s.Text)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// FuzzDisplay verifies that the displayed text contains no control characters
// and no password, and that it shows the host unchanged.
func FuzzDisplay(f *testing.F) {
	for _, s := range []string{"http://www.example.com&x@10.0.0.1/", "ftp://u:p@h:1/%1b", "http://xn--mller-kva.de/", "x:", "//@:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.ParseZone(s)
		if err != nil {
			return
		}
		shown := iri.Display(u)
		for _, r := range shown {
			if !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
				t.Errorf("%q is shown as %q", s, shown)
			}
		}
		host, plain := "", ""
		for _, x := range iri.Segments(u) {
			switch {
			case x.Text == "":
				t.Errorf("%q: displayed with an empty segment", s)
			case x.Role == iri.Host:
				host = x.Text
			case x.Role == iri.Plain:
				plain += x.Text
			}
		}
		if host != u.Host() {
			t.Errorf("%q: host %q", s, host)
		}
		p := u.Parts()
		p.Host, p.Userinfo, p.HasUserinfo = "", "", false
		if bare, err := uri.Build(p); err == nil && bare.Unredacted() != plain {
			t.Errorf("%q: beside userinfo and host %q", s, plain)
		}
	})
}
