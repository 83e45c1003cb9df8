package http

import (
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A sitemap parses the XML format of sitemaps.org. The entries of a sitemap are
// pages or other sitemaps.
type sitemap struct {
	base    uri.URI
	field   string // name of the open element
	loc     limitedText
	lastmod limitedText
	extra   map[string]string
}

func (s *sitemap) Token(t html.Token) (e fetch.Entry, ok bool) {
	name := t.Data[strings.LastIndexByte(t.Data, ':')+1:]
	switch t.Type {
	case html.StartTagToken:
		s.field = name
		if name == "url" || name == "sitemap" {
			s.reset()
		}
	case html.TextToken:
		s.text(t.Data)
	case html.EndTagToken:
		s.field = ""
		if name == "url" || name == "sitemap" {
			return s.entry(name)
		}
	}
	return e, false
}

func (s *sitemap) reset() {
	s.loc.Reset()
	s.lastmod.Reset()
	s.extra = nil
}

func (s *sitemap) text(data string) {
	switch s.field {
	case "loc":
		s.loc.add(data)
	case "lastmod":
		s.lastmod.add(data)
	case "changefreq", "priority":
		if s.extra == nil {
			s.extra = map[string]string{}
		}
		s.extra[s.field] = strings.TrimSpace(data[:min(len(data), maxText)])
	}
}

func (s *sitemap) entry(element string) (e fetch.Entry, ok bool) {
	defer s.reset()
	loc := strings.TrimSpace(s.loc.String())
	u, _, err := resolveLocation(s.base, loc)
	if loc == "" || err != nil {
		return e, false
	}
	e = fetch.Entry{URL: u, Name: loc, Kind: fetch.Document, Size: -1, Raw: loc, Extra: s.extra}
	if element == "sitemap" {
		e.Kind = fetch.Menu
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, strings.TrimSpace(s.lastmod.String())); err == nil {
			e.Time = t
			break
		}
	}
	return e, true
}

// A limitedText collects the text of an XML element, up to maxText bytes.
type limitedText struct{ strings.Builder }

func (t *limitedText) add(s string) {
	if t.Len() < maxText {
		t.WriteString(s[:min(len(s), maxText)])
	}
}
