package gemini

import (
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// maxLine is the maximum length of a line of gemtext, in bytes.
const maxLine = 256 << 10

// menu parses a gemtext document. Links are entries with a URL. All other lines
// are entries of kind Info, also the lines of preformatted text.
func menu(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		preformatted := false
		for text, err := range textform.Lines(r, maxLine) {
			if err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			if strings.HasPrefix(string(text), "```") {
				preformatted = !preformatted
			}
			if !yield(entry(base, string(text), preformatted), nil) {
				return
			}
		}
	}
}

// entry converts a line of gemtext to an Entry.
func entry(base uri.URI, text string, preformatted bool) fetch.Entry {
	e := fetch.Entry{Kind: fetch.Info, Size: -1, Raw: text, Name: strings.ToValidUTF8(text, string(utf8.RuneError))}
	prompt := base.Scheme() == "spartan" && strings.HasPrefix(text, "=:") // a link that needs input
	if preformatted || !strings.HasPrefix(text, "=>") && !prompt {
		return e
	}
	target, label := cutLink(text[len("=>"):])
	if target == "" {
		return e
	}
	u, _, err := baseuri.ResolveLocation(base, target)
	if err != nil {
		return e
	}
	if e.URL, e.Kind, e.Media = u, kindOf(u), mediaOf(u); prompt {
		e.Kind, e.Media = fetch.Index, ""
	}
	if e.Name = strings.ToValidUTF8(label, string(utf8.RuneError)); e.Name == "" {
		e.Name = u.String()
	}
	return e
}

// cutLink splits the text of a link line after "=>" into the URL and the label.
func cutLink(text string) (target, label string) {
	text = strings.TrimLeft(text, " \t")
	i := strings.IndexAny(text, " \t")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// kindOf returns the probable kind of the object at u.
func kindOf(u uri.URI) fetch.Kind {
	switch u.Scheme() {
	case "telnet", "tn3270", "rlogin":
		return fetch.Session
	case "gemini", "spartan":
		if mediaOf(u) == "text/gemini" {
			return fetch.Menu
		}
	}
	return fetch.Document
}

// mediaOf returns the probable media type of the object at u, or "".
func mediaOf(u uri.URI) string {
	path := strings.ToLower(u.Path())
	switch {
	case u.Scheme() != "gemini" && u.Scheme() != "spartan":
		return ""
	case path == "", strings.HasSuffix(path, "/"), strings.HasSuffix(path, ".gmi"), strings.HasSuffix(path, ".gemini"):
		return "text/gemini"
	}
	return media.ByName(path)
}
