package warc

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"runtime"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/htmltext"
	"github.com/anyurl/fetch/internal/base/parallel"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// A packedPage is an entry in the page list of a WACZ file.
type packedPage struct {
	URL   string
	Date  time.Time
	Title string
	Seed  bool   // the crawl started at this page
	Text  string // text of the page for a full-text search, or ""
}

type pageJSON struct {
	ID    string `json:"id,omitempty"`
	URL   string `json:"url"`
	Date  string `json:"ts"`
	Title string `json:"title,omitempty"`
	Seed  bool   `json:"seed,omitempty"`
	Text  string `json:"text,omitempty"`
}

// addPages writes the page list. If p has no main page, addPages sets it to the
// first page of the first seed that has a page.
func (z *packer) addPages(a *Archive, p *Package) error {
	seeds := a.seedPages(p.Seeds)
	chosen, first := p.main.URL != "", len(p.Seeds)
	marked := func(yield func(packedPage) bool) {
		for page := range a.pages(p.Text) {
			if u, err := parseURL(page.URL); err == nil {
				if i, ok := seeds[u.Normalize(uri.ByScheme)]; ok {
					page.Seed = true
					if !chosen && i < first {
						p.main, first = page, i
					}
				}
			}
			if !yield(page) {
				return
			}
		}
	}
	return z.create("pages/pages.jsonl", zip.Deflate, func(w io.Writer) error { return writePages(w, p.Text, marked) })
}

// seedPages maps the normalized URL of each seed to its index in seeds. If the
// archive contains a redirect of the seed, the key is the target of the
// redirect.
func (a *Archive) seedPages(seeds []string) map[uri.URI]int {
	found := map[uri.URI]int{}
	for i, seed := range seeds {
		u, err := parseURL(seed)
		if err != nil {
			continue
		}
		for range maxRevisits {
			resp, err := driver{a}.Do(context.Background(), &fetch.Request{URL: u})
			if err != nil {
				break
			}
			resp.Body.Close()
			if resp.Location.IsZero() {
				break
			}
			u = resp.Location
		}
		if key := u.WithoutFragment().Normalize(uri.ByScheme); !key.IsZero() {
			if _, ok := found[key]; !ok {
				found[key] = i
			}
		}
	}
	return found
}

func writePages(w io.Writer, hasText bool, pages iter.Seq[packedPage]) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	list := map[string]any{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
	if hasText {
		list["hasText"] = true
	}
	err := out.Encode(list)
	for p := range pages {
		if err != nil {
			break
		}
		id := sha256.Sum256([]byte(p.URL + " " + p.Date.String()))
		err = out.Encode(pageJSON{ID: hex.EncodeToString(id[:8]), URL: p.URL, Date: p.Date.UTC().Format(time.RFC3339),
			Title: p.Title, Seed: p.Seed, Text: p.Text})
	}
	return err
}

// pages returns the entries of the page list, which are the HTML pages and the
// listings of the archive. It reads the pages on all processors.
func (a *Archive) pages(withText bool) iter.Seq[packedPage] {
	return func(yield func(packedPage) bool) {
		var group []Line
		read := func() bool {
			pages := make([]packedPage, len(group))
			parallel.Do(runtime.GOMAXPROCS(0), len(group), func(i int) { pages[i] = a.page(group[i], withText) })
			group = group[:0]
			for _, page := range pages {
				if !yield(page) {
					return false
				}
			}
			return true
		}
		for l, err := range a.lines() {
			if err != nil {
				break
			}
			if !l.isPage() {
				continue
			}
			if group = append(group, l); len(group) == pageGroup && !read() {
				return
			}
		}
		read()
	}
}

// pageGroup is the number of pages that are read at the same time. It limits
// the memory for their texts.
const pageGroup = 8

// isPage reports whether l describes an entry of the page list.
func (l Line) isPage() bool {
	return l.isHTML() || l.Status == "" && entries.KindOf(l.Media) == fetch.Menu && !strings.HasSuffix(l.URL, attributesSuffix)
}

func (l Line) isHTML() bool { return l.Media == "text/html" && l.Status == "200" }

// page returns the entry of l in the page list.
func (a *Archive) page(l Line, withText bool) packedPage {
	page := packedPage{URL: l.URL}
	page.Date, _ = time.Parse("20060102150405", l.Timestamp)
	if !l.isHTML() {
		return page
	}
	limit := int64(htmltext.MaxTitleOffset)
	if withText {
		limit = maxTextOffset
	}
	start, media := a.pageStart(l, limit)
	page.Title = htmltext.Title(start, media)
	if withText {
		page.Text = htmltext.Plain(start, media)
	}
	return page
}

// attributesSuffix ends the URL of the attributes of a Gopher+ item. The page
// list omits such URLs.
const attributesSuffix = "%09%09!"

// maxTextOffset is the maximum number of bytes of an HTML page from which its
// text is extracted.
const maxTextOffset = 1 << 20

// pageStart returns the first bytes of a page, at most limit bytes, and its media
// type. The result is empty if the record is damaged.
func (a *Archive) pageStart(l Line, limit int64) (start []byte, media string) {
	rec, err := a.openRecord(l)
	if err != nil {
		return nil, ""
	}
	u, _ := parseURL(l.URL) // used only to recognize listings
	decoding := *a
	decoding.Decode, decoding.Raw = true, false
	resp, err := decoding.respond(&fetch.Request{URL: u}, rec, rec.head, nil)
	if err != nil {
		return nil, ""
	}
	defer resp.Body.Close()
	start, _ = io.ReadAll(io.LimitReader(resp.Body, limit)) // the start of a damaged page may be intact
	return start, resp.Media
}
