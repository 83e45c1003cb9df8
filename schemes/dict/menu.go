package dict

import (
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// menu parses the list of databases or of matching words. Each line has the name
// of a database, and its description or a word.
func menu(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		l, err := locate(base)
		if err != nil {
			yield(fetch.Entry{}, err)
			return
		}
		n := 0
		for text, err := range textform.Lines(r, maxLine) {
			if err != nil {
				yield(fetch.Entry{}, sessions.BlockFault(err))
				return
			}
			if n++; len(text) == 0 || l.nth > 0 && n != l.nth {
				continue
			}
			if !yield(l.entry(base, strings.ToValidUTF8(string(text), "\uFFFD"))) {
				return
			}
		}
	}
}

// entry parses one line of a listing.
func (l locator) entry(base uri.URI, text string) (e fetch.Entry, err error) {
	e = fetch.Entry{Name: text, Kind: fetch.Info, Size: -1, Raw: text}
	words := parseWords(text)
	if len(words) != 2 || textform.HasControl(words[0]+words[1]) {
		return e, nil
	}
	path := ""
	if l.verb == match {
		e.Name, e.Kind, e.Media = words[1], fetch.Document, media
		e.Extra = map[string]string{"database": words[0]}
		path = "/d:" + escape(words[1]) + ":" + escape(words[0])
	} else {
		e.Name, e.Kind = words[0], fetch.Index
		e.Extra = map[string]string{"description": words[1]}
		path = "/d::" + escape(words[0])
	}
	e.URL, err = base.WithoutFragment().WithPath(path)
	if err != nil {
		return e, fetch.Protocol.With(err)
	}
	return e, nil
}
