package gopher

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

func TestAttributes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no attributes", "", ""},
		{"one item", "+INFO: 0a\t/a\th\t70\t+\r\n+ADMIN:\r\n Admin: x\r\n Mod-Date: y\r\n", "INFO=0a\t/a\th\t70\t+ ADMIN=Admin: x ADMIN=Mod-Date: y"},
		{"two items", "+INFO: 0a\t/a\th\t70\n+VIEWS:\n a/b: <1k>\n+INFO: 0b\t/b\th\t70\n", "INFO=0a\t/a\th\t70 VIEWS=a/b: <1k> / INFO=0b\t/b\th\t70"},
		{"+INFO without a colon (UMN gopherd)", "+INFO 1Top\t\th\t70\t+\r\n", "INFO=1Top\t\th\t70\t+"},
		{"block without lines", "+INFO: 0a\r\n+X:\r\n+Y\r\n z\r\n", "INFO=0a X= Y=z"},
		{"menu line after the block name", "+ABSTRACT: 0abs\t/abs\th\t70\r\n here\r\n", "ABSTRACT=0abs\t/abs\th\t70 ABSTRACT=here"},
		{"line without a leading space", "+ADMIN:\r\nAdmin: x\r\n", "ADMIN=Admin: x"},
		{"line with a leading plus sign", "+ABSTRACT:\r\n +1 for it\r\n", "ABSTRACT=+1 for it"},
		{"line before the first block", " a\r\n+INFO: 0a\r\n", "=a / INFO=0a"},
		{`item after the "." line`, "+INFO: 0a\r\n.\r\n+INFO: 0b\r\n", "INFO=0a"},
		{"blank lines", "+INFO: 0a\r\n\r\n+X:\r\n\r\n y\r\n", "INFO=0a X=y"},
	} {
		var all []string
		for a, err := range items(strings.NewReader(c.text)) {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			var lines []string
			for _, f := range a.header() {
				lines = append(lines, f.Name+"="+f.Value)
			}
			all = append(all, strings.Join(lines, " "))
		}
		if got := strings.Join(all, " / "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAttributeValues(t *testing.T) {
	for text, want := range map[string]string{
		"+ADMIN:\n Mod-Date: Fri Nov 20 <20261120131518>\n": "2026-11-20T13:15:18Z ",
		"+ADMIN:\n Mod-Date: Fri Nov 20\n":                  "0001-01-01T00:00:00Z ",
		"+ADMIN:\n Mod-Date: <20261320131518>\n":            "0001-01-01T00:00:00Z ",
		"+X:\n Mod-Date: <20261120131518>\n":                "0001-01-01T00:00:00Z ",
		"+VIEWS:\n Text/Plain En_US: <10k>\n":               "0001-01-01T00:00:00Z text/plain",
		"+VIEWS:\n application/gopher-menu:\n":              "0001-01-01T00:00:00Z application/gopher-menu",
		"+VIEWS:\n a/b\n c/d: <1k>\n":                       "0001-01-01T00:00:00Z ",
		"+VIEWS:\n :\n":                                     "0001-01-01T00:00:00Z ",
		"+VIEWS:\n a/b\tc: <1k>\n":                          "0001-01-01T00:00:00Z ", // a TAB would add a field to the request
		"+VIEWS:\n a/b\rQUIT: <1k>\n":                       "0001-01-01T00:00:00Z ",
	} {
		for a := range items(strings.NewReader(text)) {
			if got := a.time().Format(time.RFC3339) + " " + a.media(); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		}
	}
}

func TestAttributeLimits(t *testing.T) {
	last := func(r io.Reader) (err error) {
		for _, e := range items(r) {
			err = e
		}
		return err
	}
	if err := last(&longMenu{left: 1 << 30, line: "+X: y\r\n"}); !errors.Is(err, fetch.TooLarge) {
		t.Errorf("item of unlimited size: got %v", err)
	}
	if err := last(io.MultiReader(strings.NewReader("+INFO: 0a\r\n"), errReader{io.ErrUnexpectedEOF})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("truncated item: got %v", err)
	}
	if err := last(strings.NewReader("+" + strings.Repeat("x", maxLine) + "\r\n")); !errors.Is(err, fetch.Protocol) {
		t.Errorf("long line: got %v", err)
	}
	n := 0
	for _, err := range items(&longMenu{left: 200_000, line: "+INFO: 0a\t/a\th\t70\r\n+VIEWS:\r\n text/plain: <1k>\r\n"}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 200_000 {
		t.Errorf("got %d items", n)
	}
}

func TestViews(t *testing.T) {
	item := parseViews("Text/plain En_US: <1k>", "Text/plain De_DE: <1k>", "application/postscript De_DE: <9k>", "image/gif:")
	for _, c := range []struct{ view, lang, want string }{
		{"", "", "Text/plain En_US"}, {"text/plain", "", "Text/plain En_US"}, {"PLAIN", "", "Text/plain En_US"},
		{"text/plain", "de", "Text/plain De_DE"}, {"", "de-de", "Text/plain De_DE"}, {"postscript", "de", "application/postscript De_DE"},
		{"postscript", "en", ""}, {"image/gif", "", "image/gif"}, {"", "fr", ""}, {"text", "", ""}, {"gif", "de", ""},
	} {
		got := ""
		for _, v := range item {
			if (Options{View: c.view, Lang: c.lang}).matches(v) {
				got = v.name
				break
			}
		}
		if got != c.want {
			t.Errorf("view %q, language %q: got %q, want %q", c.view, c.lang, got, c.want)
		}
	}
}

func parseViews(lines ...string) []view {
	var a attributes
	for _, l := range lines {
		a = append(a, attribute{"VIEWS", l})
	}
	return a.views()
}

// TestPlusEntry checks that Extra contains the attributes under their names in
// lower case.
func TestPlusEntry(t *testing.T) {
	all, err := readMenu("gopher://h/", plusMedia, "+INFO: 0caf\xe9\t/a\th\t70\t?\r\n+ADMIN:\r\n Admin: x\r\n Site: y\r\n+ASK:\r\n Ask: Name\r\n+Weird\xff: z\r\n+EMPTY:\r\n")
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	e := all[0]
	if got := fmt.Sprint(e.Name, " ", e.URL, " ", e.Extra); got != "café gopher://h/0/a%09%09? map[admin:Admin: x\nSite: y ask:Ask: Name charset:iso-8859-1 plus:? type:0 weirdÿ:z]" {
		t.Errorf("got %s", got)
	}
}
