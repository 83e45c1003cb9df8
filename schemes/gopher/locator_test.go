package gopher

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestPlan checks the request lines for a URL, separated by " | ".
func TestPlan(t *testing.T) {
	for _, c := range []struct{ name, url, want string }{
		{"URL without a path", "", ""},
		{"path of one slash", "/", ""},
		{"item type without a selector", "/1", ""},
		{"selector", "/0/about.txt", "/about.txt"},
		{"selector that begins with its type", "/00/about", "0/about"},
		{"selector without a slash", "/0about", "about"},
		{"slashes at the beginning", "/1//x", "//x"},
		{"dot segments in a selector", "/1/a/../b/.", "/a/../b/."},
		{"reserved characters in a selector", "/0/a;b:c@d&e=f$g!h*i'j(k),l", "/a;b:c@d&e=f$g!h*i'j(k),l"},
		{"escaped slash and percent", "/0%2Fa%25b", "/a%b"},
		{"space and high bytes", "/0/a%20b%E9%C3%A9%FF", "/a b\xe9\xc3\xa9\xff"},
		{"control characters other than line ends", "/0/a%01%0B%0C%1B%7F", "/a\x01\x0b\x0c\x1b\x7f"},
		{"escaped item type", "/%30/a", "/a"},
		{"punctuation as the item type", "/;x", "x"},
		{"question mark in a selector", "/0/cgi?a=b?c", "/cgi?a=b?c"},
		{"empty query in a selector", "/1/cgi?", "/cgi?"},
		{"fragment", "/0/a#b", "/a"},
		{"user information", "/0/a", "/a"},

		{"search", "/7/find%09blue%20moon", "/find\tblue moon"},
		{"search in the form of RFC 1630", "/7/find?blue+moon%2B", "/find\tblue moon+"},
		{"question mark in the selector of a search", "/7/cgi?db=1%09moon", "/cgi?db=1\tmoon"},
		{"escaped question mark", "/7/cgi%3Fdb%09a", "/cgi?db\ta"},
		{"search words for a text item", "/0/a%09b", "/a\tb"},
		{"search words in UTF-8", "/7/f%09%E6%9C%88", "/f\t月"},
		{"phone book", "/2%09name=doe", "query name=doe | quit"},
		{"phone book, RFC 1630", "/2?john+doe", "query john doe | quit"},

		{"default view", "/0/a%09%09+", "/a\t+"},
		{"named view", "/0/a%09%09+application/postscript%20Es_ES", "/a\t+application/postscript Es_ES"},
		{"attributes", "/0/a%09%09!", "/a\t!"},
		{"selected attributes", "/0/a%09%09!+ABSTRACT%20+SMELL", "/a\t!+ABSTRACT +SMELL"},
		{"attributes of a menu", "/1/a%09%09$", "/a\t$"},
		{"selected attributes of a menu", "/1%09%09$+VIEWS", "\t$+VIEWS"},
		{"attributes of an index", "/7/f%09%09!", "/f\t!"},
		{"Gopher+ search", "/7/f%09moon%09+", "/f\tmoon\t+"},
		{"empty Gopher+ string", "/0/a%09%09", "/a"},
		{"form to be filled in", "/0/a%09%09?", "/a\t! | /a\t+\t1 | form ***"},
		{"form data in the URL", "/0/a%09%09+%091%0D%0A+-1%0D%0Aone%0D%0A%0D%0A..%0D%0A.x%0D%0A.%0D%0A",
			"/a\t+\t1 | form +-1\r\none\r\n\r\n..\r\n.x\r\n.\r\n"},
		{"form data without fields", "/0/a%09%09+%091%0D%0A+-1%0D%0A.%0D%0A", "/a\t+\t1 | form +-1\r\n.\r\n"},
		{"form data and a view", "/0/a%09%09+text/plain%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0A", "/a\t+text/plain\t1 | form +-1\r\nx\r\n.\r\n"},

		{"URL in a selector", "/hURL:http://example.com/", "no request"},
		{"URL after a slash in a selector", "/h/URL:http://example.com/", "no request"},

		{"index with a TAB but no words", "/7/f%09", "NeedQuery"},
		{"index without words", "/7/f", "NeedQuery"},
		{"index with an empty search", "/7/f?", "NeedQuery"},
		{"phone book without words", "/2", "NeedQuery"},
		{"terminal session", "/8bbs", "Unsupported"},
		{"tn3270 session", "/T", "Unsupported"},
	} {
		got := planOf(Options{}, "gopher://user@h"+c.url)
		if got != c.want {
			t.Errorf("%s: %s plans %q, want %q", c.name, c.url, got, c.want)
		}
	}
	options := Options{View: "postscript", Lang: "de"}
	for url, want := range map[string]string{
		"gopher://h/0/a":                     "/a\t! | /a\t+VIEW",
		"gopher://h/0/a%09%09+":              "/a\t! | /a\t+VIEW",
		"gopher://h/0/a%09%09+text/plain":    "/a\t+text/plain",
		"gopher://h/0/a%09%09!":              "/a\t!",
		"gopher://h/7/a%09moon":              "/a\tmoon\t! | /a\tmoon\t+VIEW",
		"gopher://h/2%09moon":                "query moon | quit",
		"gopher://h/hURL:http://example.com": "no request",
	} {
		if got := planOf(options, url); got != want {
			t.Errorf("with a view: %s plans %q, want %q", url, got, want)
		}
	}
}

func planOf(o Options, url string) string {
	steps, err := o.plan(&fetch.Request{URL: uri.MustParse(url)})
	for _, f := range []fetch.Fault{fetch.NeedQuery, fetch.Unsupported, fetch.BadURL} {
		if errors.Is(err, f) {
			return map[fetch.Fault]string{fetch.NeedQuery: "NeedQuery", fetch.Unsupported: "Unsupported", fetch.BadURL: "BadURL"}[f]
		}
	}
	if err != nil {
		return err.Error()
	}
	if len(steps) == 0 {
		return "no request"
	}
	var all []string
	for _, s := range steps {
		all = append(all, strings.TrimPrefix(s.String(), "send "))
	}
	if len(all) == 1 && all[0] == "send" {
		return ""
	}
	return strings.Join(all, " | ")
}

// TestPlanStat checks that a Stat request for plain Gopher sends no request,
// because plain Gopher has no metadata.
func TestPlanStat(t *testing.T) {
	for url, want := range map[string]int{"gopher://h/0/a": 0, "gopher://h/7/a": 0, "gopher://h/2": 0, "gopher://h/0/a%09%09+": 1, "gopher://h/1%09%09$": 1, "gopher://h/0/a%09%09?": 1} {
		steps, err := Options{}.plan(&fetch.Request{URL: uri.MustParse(url), Op: fetch.Stat})
		if err != nil || len(steps) != want || want == 1 && !strings.HasSuffix(steps[0].Arg, "\t!") {
			t.Errorf("%s: got %v, %v, want %d steps", url, steps, err, want)
		}
	}
}

// TestPlanForm checks that a form is sent only for a URL that the user entered.
func TestPlanForm(t *testing.T) {
	from := &fetch.Source{URL: uri.MustParse("gopher://evil/")}
	for _, plus := range []string{"?", "+%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0A"} {
		req := &fetch.Request{URL: uri.MustParse("gopher://h/0/a%09%09" + plus), From: from}
		var refusal *fetch.Refusal
		if _, err := (Options{}).plan(req); !errors.Is(err, fetch.BadReferral) || !errors.As(err, &refusal) {
			t.Errorf("%s: got %v, want BadReferral", plus, err)
		}
	}
}

func TestQuery(t *testing.T) {
	for _, c := range []struct{ url, words, want string }{
		{"gopher://h/7/find", "blue moon", "gopher://h/7/find%09blue%20moon"},
		{"gopher://h:7070/7/find%09old", "a?b#c%d", "gopher://h:7070/7/find%09a%3Fb%23c%25d"},
		{"gopher://h/7/find?old", "new", "gopher://h/7/find%09new"},
		{"gopher://h/7/cgi%3Fdb=1", "new", "gopher://h/7/cgi%3Fdb=1%09new"},
		{"gopher://h/7/find%09old%09+", "new", "gopher://h/7/find%09new%09+"},
		{"gophers://h/2", "name=doe return email", "gophers://h/2%09name=doe%20return%20email"},
		{"gopher://h/7/f", "caf\xe9 \u6708", "gopher://h/7/f%09caf%E9%20%E6%9C%88"},
		{"gopher://h/7/f", "a\tb", "invalid-uri"},
		{"gopher://h/7/f", "a\r\nb", "invalid-uri"},
		{"gopher://h/1/f", "a", "unsupported"},
		{"gopher://h", "a", "unsupported"},
		{"gopher://h/0/f", "a", "unsupported"},
	} {
		got, err := query(uri.MustParse(c.url), fetch.Search{Words: c.words})
		text := got.String()
		if err != nil {
			text = fetch.FaultOf(err).String()
		}
		if text != c.want {
			t.Errorf("%s for %q: got %s (%v), want %s", c.url, c.words, text, err, c.want)
		}
	}
}

// TestTypes checks the kind and media type of all item types in common use.
func TestTypes(t *testing.T) {
	want := map[string]string{
		"0/a": "document text/plain", "1/a": "menu application/gopher-menu", "2": "index text/x-ph", "4a.hqx": "document application/mac-binhex40",
		"5a.zip": "document application/zip", "5a": "document application/octet-stream", "6a": "document text/x-uuencode", "7a": "index application/gopher-menu",
		"8a": "session ", "Ta": "session ", "9a": "document application/octet-stream", "9a.tar": "document application/x-tar", "ga": "document image/gif",
		"Ia.jpg": "document image/jpeg", "Ia": "document ", ":a.bmp": "document image/bmp", "pa": "document image/png", "sa.wav": "document audio/vnd.wave",
		"<a.au": "document audio/basic", ";a.mpg": "document video/mpeg", "ha": "document text/html", "da.ps": "document application/postscript",
		"Pa": "document application/pdf", "ra": "document application/rtf", "xa": "document application/xml", "ca": "document text/calendar",
		"Ma": "document message/rfc822", "ia": "info ", "3a": "info ", "Xa": "document ",
	}
	for item, want := range want {
		got := fmt.Sprintf("%v %s", typeOf(item[0]).kind, mediaOf(item[0], item[1:], nil))
		if got != want {
			t.Errorf("type %s: got %q, want %q", item, got, want)
		}
	}
}
