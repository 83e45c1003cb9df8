package warc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"

	"github.com/anyurl/fetch/internal/linesort"
	"github.com/anyurl/fetch/uri"
)

// Objects returns the index lines of each URL in the archive, ordered by URL.
// Equivalent URLs belong to one element. The first line is the capture that
// replay prefers among those with an object. Captures of redirects and errors
// are the last lines. An element has at most 1000 lines of each kind, the
// preferred ones. Captures of requests with a body are left out.
//
// Objects sorts the index in temporary files, so that memory use is constant.
func (a *Archive) Objects() iter.Seq2[[]Line, error] {
	return func(yield func([]Line, error) bool) {
		var sorter linesort.Sorter
		defer sorter.Close()
		if err := a.sortByURL(&sorter); err != nil {
			yield(nil, localError(err))
			return
		}
		current, group := "", lineGroup{}
		for text, err := range sorter.Sorted() {
			if err != nil {
				yield(nil, localError(err))
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

// sortByURL adds the lines of the index to sorter. The URL precedes each line.
func (a *Archive) sortByURL(sorter *linesort.Sorter) error {
	var b []byte
	for l, err := range a.lines() {
		if err != nil {
			return err
		}
		if strings.Contains(l.Key, "__wb_method=") { // pywb's key of a request with a body
			continue
		}
		l.Next = 0
		b = append(append(b[:0], objectKey(l.URL)...), ' ')
		if err := sorter.Add(l.append(b)); err != nil {
			return err
		}
	}
	return nil
}

// maxObjectKey is the maximum length of a URL by which Objects sorts.
const maxObjectKey = 8 << 10

// objectKey returns the text by which Objects sorts and compares URLs.
func objectKey(text string) string {
	if u, err := uri.ParseZone(text); err == nil {
		text = u.WithoutFragment().Normalize(uri.ByScheme).Unredacted()
	}
	if text = escape(text, " \n"); len(text) > maxObjectKey {
		sum := sha256.Sum256([]byte(text))
		text = text[:maxObjectKey] + hex.EncodeToString(sum[:])
	}
	return text
}

// A lineGroup contains the lines of one URL by their class.
type lineGroup [3]nearest

// classOf returns the index of a line in a lineGroup: 0 for an object, 1 for a
// record without an HTTP status of an http URL, such as a picture of the page,
// and 2 for a redirect or an error.
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

// lines returns the lines of the group, beginning with the preferred one.
func (g *lineGroup) lines() (all []Line) {
	for i := range g {
		if g[i].Archive != nil {
			lines := g[i].sorted()
			all = append(all, lines[:min(len(lines), maxOpened)]...)
		}
	}
	return all
}
