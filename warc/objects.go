package warc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/linesort"
	"github.com/anyurl/fetch/uri"
)

// Objects yields the index lines of one URL after another, ordered by URL.
// Equivalent URLs share one element. Its first line is the capture of an object
// that replay prefers. Captures of redirects and errors are the last lines.
// Objects omits all but the 1000 preferred lines of each kind. Captures of
// requests with a body are left out.
//
// Objects sorts the index in temporary files, so that memory use is constant.
func (a *Archive) Objects() iter.Seq2[[]Line, error] {
	return func(yield func([]Line, error) bool) {
		var sorter linesort.Sorter
		defer sorter.Close()
		if err := a.sortByURL(&sorter); err != nil {
			yield(nil, fetch.LocalError(err))
			return
		}
		current, group := "", lineGroup{}
		for text, err := range sorter.Sorted() {
			if err != nil {
				yield(nil, fetch.LocalError(err))
				return
			}
			key, rest, _ := bytes.Cut(text, []byte(" "))
			l, err := ParseLine(string(rest))
			if err != nil {
				yield(nil, err)
				return
			}
			if string(key) != current || group[0].Archive == nil {
				if lines := group.lines(); len(lines) > 0 && !yield(lines, nil) {
					return
				}
				current = string(key)
				for i := range group {
					group[i] = nearest{Archive: a}
				}
			}
			n := &group[classOf(l)]
			n.add(l)
		}
		if lines := group.lines(); len(lines) > 0 {
			yield(lines, nil)
		}
	}
}

// sortByURL adds the lines of the index to sorter, each with its URL as a
// prefix.
func (a *Archive) sortByURL(sorter *linesort.Sorter) error {
	var b []byte
	for l, err := range a.lines() {
		if err != nil {
			return err
		}
		if strings.Contains(l.Key, methodKey) { // pywb adds this to the key of a request with a body
			continue
		}
		b = append(append(b[:0], objectKey(l.URL)...), ' ')
		if err := sorter.Add(l.append(b)); err != nil {
			return err
		}
	}
	return nil
}

// maxObjectKey is the maximum length of the URL in a sort key, in bytes. A
// longer URL is cut, and its digest is appended.
const maxObjectKey = 8 << 10

// objectKey returns the text by which Objects sorts and compares URLs.
func objectKey(text string) string {
	if u, err := parseURL(text); err == nil {
		text = u.WithoutFragment().Normalize(uri.ByScheme).Unredacted()
	}
	if text = escape(text, " \n"); len(text) > maxObjectKey {
		sum := sha256.Sum256([]byte(text))
		text = text[:maxObjectKey] + hex.EncodeToString(sum[:])
	}
	return text
}

// A lineGroup contains the index lines of one URL, grouped by classOf.
type lineGroup [3]nearest

// classOf returns the class of a line, which is its index in a lineGroup. Class
// 0 is an object, and class 2 is a redirect or an error. Class 1 is a record of
// an http URL without an HTTP status, such as a screenshot of the page.
func classOf(l Line) int {
	none := l.Status == "" || l.Status == "-"
	switch {
	case l.Media == mediaRevisit && (none || l.Status == "304"):
		return 0
	case none && (strings.HasPrefix(l.URL, "http:") || strings.HasPrefix(l.URL, "https:")):
		return 1
	case none, strings.HasPrefix(l.Status, "2") && l.Status != "206":
		return 0
	}
	return 2
}

// lines returns the lines of the group, in the order in which replay prefers
// them.
func (g *lineGroup) lines() (all []Line) {
	for i := range g {
		if g[i].Archive != nil {
			lines := g[i].sorted()
			all = append(all, lines[:min(len(lines), maxOpened)]...)
		}
	}
	return all
}
