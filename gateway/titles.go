package gateway

import (
	"context"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/htmltext"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/warc"
)

// titles caches the titles of pages and the subjects of articles. It is safe
// for concurrent use.
type titles struct {
	mu     sync.Mutex
	size   int               // bytes of all titles
	listed bool              // the lists of pages have been read into byURL
	byURL  map[string]string // titles in lists of pages
	byLine map[int64]string  // titles in records, by the field Next of the index line
}

const (
	maxTitle  = 300      // bytes of a title
	maxTitles = 16 << 20 // bytes of all titles in memory, with an estimate for the maps
)

// hasTitle reports whether the document of the index line l can have a title.
// HTML pages and messages can.
func hasTitle(l warc.Line) bool {
	switch l.Media {
	case "text/html", "application/xhtml+xml":
		return l.Status == "" || strings.HasPrefix(l.Status, "2")
	}
	return l.Media == "message/rfc822"
}

// list reads the titles from the page lists of WACZ files. Later calls do
// nothing.
func (t *titles) list(ctx context.Context, source *warc.Archive) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listed {
		return nil
	}
	t.byURL, t.byLine, t.size = map[string]string{}, map[int64]string{}, 0
	for e, err := range source.Pages() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			t.listed = true // titles are read from the records
			return err
		}
		url, title := e.URL.Unredacted(), clipTitle(e.Name)
		if t.size += len(url) + len(title) + 64; t.size > maxTitles {
			break
		}
		if title != "" {
			t.byURL[url] = title
		}
	}
	t.listed = true
	return nil
}

// get returns the title of a capture, if it is in memory.
func (t *titles) get(l warc.Line) (title string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if title, ok = t.byLine[l.Next]; !ok {
		title, ok = t.byURL[l.URL]
	}
	return title, ok
}

// add stores the title of a capture, unless the memory limit is reached.
func (t *titles) add(l warc.Line, title string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size += len(title) + 64; t.size <= maxTitles {
		t.byLine[l.Next] = title
	}
}

// title returns the title of a capture. It reads the start of the record unless
// the title is in memory. A damaged record has no title.
func (c *collection) title(ctx context.Context, l warc.Line) string {
	if title, ok := c.titles.get(l); ok {
		return title
	}
	title := clipTitle(c.readTitle(ctx, l))
	if ctx.Err() == nil {
		c.titles.add(l, title)
	}
	return title
}

func (c *collection) readTitle(ctx context.Context, l warc.Line) string {
	u, err := baseuri.ParseAbsolute(l.URL)
	if err != nil {
		return ""
	}
	source := *c.Source // the copy shares the files
	source.Decode, source.Raw = true, false
	resp, err := source.Replay(ctx, &fetch.Request{URL: u}, l)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	if media.TrimParameters(l.Media) == "message/rfc822" {
		head, _ := rfc822.ReadHeader(resp.Body)
		return rfc822.DecodeWords(rfc822.ParseHeader(head).Get("Subject"))
	}
	start, _ := io.ReadAll(io.LimitReader(resp.Body, htmltext.MaxTitleOffset)) // the start of a damaged page may be intact
	return htmltext.Title(start, resp.Media)
}

// clipTitle truncates a title to maxTitle bytes.
func clipTitle(title string) string {
	end := min(len(title), maxTitle)
	for end > 0 && end < len(title) && !utf8.RuneStart(title[end]) {
		end--
	}
	return strings.Clone(title[:end])
}
