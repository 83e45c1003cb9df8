package links

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/anyurl/fetch/uri"
)

// TestCharset checks that paths are encoded in UTF-8 and queries in the charset
// of the document, and that Rewrite copies all other bytes unchanged.
func TestCharset(t *testing.T) {
	wide := func(e unicode.Endianness, policy unicode.BOMPolicy) encoding.Encoding {
		return unicode.UTF16(e, policy)
	}
	in := func(e encoding.Encoding, text string) string {
		text, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	big, little := wide(unicode.BigEndian, unicode.UseBOM), wide(unicode.LittleEndian, unicode.UseBOM)
	plain := wide(unicode.LittleEndian, unicode.IgnoreBOM)
	for _, c := range []struct{ name, media, body, want, copied string }{
		{"Shift_JIS, second byte is a backslash", "text/html; charset=Shift_JIS", "\x95\x5c<a href='/\x95\x5c\\x.html'>\x95\x5c",
			"page a href http://h/%E8%A1%A8/x.html\n", "\x95\x5c<a href='X'>\x95\x5c"},
		{"query", "text/html; charset=Shift_JIS", "<a href='?a=\x95\x5c&b#\x95\x5c'>",
			"page a href http://h/d/p?a=%95%5C&b\n", "<a href='X#%E8%A1%A8'>"},
		{"query with a letter that the charset lacks", "text/html; charset=iso-8859-1", "<a href='\xe9?\xe9=&hearts;=1'>",
			"page a href http://h/d/%C3%A9?%E9=%26%239829%3B=1\n", "<a href='X'>"},
		{"query for a scheme that is not of the web", "text/html; charset=iso-8859-1", "<a href='gopher://g/?\xe9'>",
			"page a href gopher://g/?%C3%A9\n", "<a href='X'>"},
		{"meta element", "text/html", "<meta charset=iso-8859-1><a href='/\xe9'><p title='\xe9'>",
			"page a href http://h/%C3%A9\n", "<meta charset=\"iso-8859-1\"><a href='X'><p title='\xe9'>"},
		{"meta element after letters", "text/html", "<title>\xe9</title><meta http-equiv=content-type content='text/html; charset=koi8-r'><a href='/\xd1'>",
			"page a href http://h/%D1%8F\n", "<title>\xe9</title><meta http-equiv=\"content-type\" content=\"text/html; charset=koi8-r\"><a href='X'>"},
		{"header wins over the meta element", "text/html; charset=utf-8", "<meta charset=iso-8859-1><a href='/é'>",
			"page a href http://h/%C3%A9\n", "<meta charset=\"iso-8859-1\"><a href='X'>"},
		{"byte order mark wins over the header", "text/html; charset=iso-8859-1", "\ufeff<a href='/é'>",
			"page a href http://h/%C3%A9\n", "\ufeff<a href='X'>"},
		{"no charset", "text/html", strings.Repeat(" ", 2000) + "<a href='/é'>",
			"page a href http://h/%C3%A9\n", strings.Repeat(" ", 2000) + "<a href='X'>"},
		{"charset only in a comment", "text/html", "<!-- charset=iso-8859-1 --><a href='/é'>",
			"page a href http://h/%C3%A9\n", "<!-- charset=iso-8859-1 --><a href='X'>"},
		{"unknown charset", "text/html; charset=x", "<a href='/\xe9'>", "page a href http://h/%E9\n", "<a href='X'>"},
		{"bytes that the charset lacks", "text/html; charset=euc-jp", "\xff<a href='/\xff'>", "page a href http://h/%EF%BF%BD\n", "\xff<a href='X'>"},
		{"base element", "text/html; charset=iso-8859-1", "<base href='/\xe9/'><a href=x>",
			"page a href http://h/%C3%A9/x\n", "<base href=\"\"><a href=\"X\">"},
		{"entities", "text/html; charset=iso-8859-1", "<a href='/&eacute;\xe9'>", "page a href http://h/%C3%A9%C3%A9\n", "<a href='X'>"},
		{"style", "text/html; charset=iso-8859-1", "<style>a{b:url(\xe9) \xe9}</style><p style='a:url(\xe9);b:\"\xe9&hearts;\"'>",
			"requisite style url http://h/d/%C3%A9\nrequisite p style url http://h/d/%C3%A9\n",
			"<style>a{b:url(X) \xe9}</style><p style='a:url(X);b:\"&#233;&#9829;\"'>"},
		{"srcdoc", "text/html; charset=iso-8859-1", "<iframe srcdoc='\xe9<a href=\"\xe9?\xe9\">'></iframe>",
			"page a href http://h/d/%C3%A9?%E9\n", "<iframe srcdoc=\"&#233;&lt;a href=&quot;X&quot;>\"></iframe>"},
		{"conditional comment", "text/html; charset=iso-8859-1", "<!--[if IE]>\xe9<a href='\xe9'><![endif]-->",
			"page a href http://h/d/%C3%A9\n", "<!--[if IE]>\xe9<a href='X'><![endif]-->"},
		{"stylesheet instruction", "image/svg+xml; charset=iso-8859-1", "<?xml-stylesheet href='\xe9'?>",
			"requisite xml-stylesheet http://h/d/%C3%A9\n", "<?xml-stylesheet href='X'?>"},
		{"style sheet", "text/css; charset=iso-8859-1", "a{b:url(\xe9)} /* \xe9 */", "requisite css url http://h/d/%C3%A9\n", "a{b:url(X)} /* \xe9 */"},
		{"@charset", "text/css", "@charset \"iso-8859-1\"; a{b:url(\xe9)}", "requisite css url http://h/d/%C3%A9\n", "@charset \"iso-8859-1\"; a{b:url(X)}"},
		{"UTF-16 in big-endian order", "text/html", in(big, "ü<a href='ü?ü'>"), "page a href http://h/d/%C3%BC?%C3%BC\n", in(big, "ü<a href='X'>")},
		{"UTF-16 in little-endian order", "text/html", in(little, "ü<a href='ü'>"), "page a href http://h/d/%C3%BC\n", in(little, "ü<a href='X'>")},
		{"UTF-16 without a byte order mark", "text/html; charset=utf-16le", in(plain, "ü<a href='ü'>"), "page a href http://h/d/%C3%BC\n", in(little, "ü<a href='X'>")},
		{"UTF-16 in the header only", "text/html; charset=utf-16le", "<a href='ü'>", "page a href http://h/d/%C3%BC\n", "<a href='X'>"},
	} {
		if got := extracted(t, here, c.media, nil, strings.NewReader(c.body)); got != c.want {
			t.Errorf("%s: links\n%s\nwant\n%s", c.name, got, c.want)
		}
		var copied, found strings.Builder
		err := Rewrite(&copied, schemeNamed, uri.MustParse(here), c.media, nil, strings.NewReader(c.body), func(l Link) string {
			found.WriteString(l.Kind.String() + " " + l.From + " " + l.URL.Unredacted() + "\n")
			return "X"
		})
		if err != nil || copied.String() != c.copied {
			t.Errorf("%s: %v, copy is %q, want %q", c.name, err, copied.String(), c.copied)
		}
		if found.String() != c.want {
			t.Errorf("%s: Rewrite found\n%s\nwant\n%s", c.name, found.String(), c.want)
		}
	}
}
