package objectcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/warc/textindex"
)

// defaultHits is the number of results of a search in texts without --max.
const defaultHits = 20

// searchTexts searches in the texts of the archive, and prints the captures.
func (c *searchCommand) searchTexts(ctx context.Context, archive string, words []string) error {
	if c.native || c.urlOnly || len(c.like) > 0 || c.match != defaultMatch {
		return fetch.Usage.Errorf("--text excludes --native, --url, --like and --match")
	}
	a, err := clientflags.OpenArchives(c.Streams, ctx, archive)
	if err != nil {
		return err
	}
	defer a.Close()
	index := textindex.New(textindex.PathOf(archive), a, console.SchemeByName())
	defer index.Close()
	left := c.max
	if left <= 0 {
		left = defaultHits
	}
	q, write := textindex.Query{Words: strings.Join(words, " ")}, c.hitWriter()
	for left > 0 {
		q.Limit = min(left, textindex.MaxLimit)
		r, err := index.Search(ctx, q)
		if errors.Is(err, fs.ErrNotExist) {
			return fetch.NotFound.Errorf("%s has no text index: run fetch index --text %s", archive, archive)
		}
		if errors.Is(err, fetch.Mismatch) {
			err = fmt.Errorf("%w; fetch index --text %s replaces it", err, archive)
		}
		if err != nil {
			return err
		}
		for _, h := range r.Hits {
			if err := write(c.Stdout, h); err != nil {
				return console.LocalError(err)
			}
		}
		if r.Stale > 0 {
			c.Note("%d results are not in the archive: run fetch index --text %s", r.Stale, archive)
		}
		if q.Skip == 0 && r.Count == 0 {
			return fetch.NotFound.Errorf("no text of %s has all these words", archive)
		}
		if !r.More {
			return nil
		}
		q.Skip, left = q.Skip+q.Limit, left-q.Limit
	}
	return nil
}

// hitWriter returns the function that prints a result in the format that the
// flags select. By default, a result has three lines: the date and the title, the
// URL, and a part of the text.
func (c *searchCommand) hitWriter() func(io.Writer, textindex.Hit) error {
	if c.format.JSON || c.format.URLs {
		write := c.format.Writer(c.Stdout)
		return func(w io.Writer, h textindex.Hit) error { return write(w, entryOf(h)) }
	}
	before, after := "", ""
	if terminal.Colors(c.Stdout) {
		before, after = "\x1b[1m", "\x1b[0m"
	}
	return func(w io.Writer, h textindex.Hit) error {
		e := entryOf(h)
		var text strings.Builder
		fmt.Fprintf(&text, "%s  %s\n    %s\n    ", e.Time.Format(time.DateOnly), tty.Escape(e.Name), tty.Escape(e.URL.String()))
		for _, s := range h.Snippet {
			if s.Match {
				text.WriteString(before + tty.Escape(s.Text) + after)
			} else {
				text.WriteString(tty.Escape(s.Text))
			}
		}
		_, err := io.WriteString(w, strings.TrimRight(text.String(), " ")+"\n")
		return err
	}
}

// entryOf returns a result as an entry of a listing.
func entryOf(h textindex.Hit) fetch.Entry {
	e := fetch.Entry{Name: h.Title, URL: h.URL, Kind: fetch.Document, Media: h.Line.Media, Size: -1,
		Extra: map[string]string{"kind": string(h.Kind)}}
	e.Time, _ = time.Parse("20060102150405", h.Line.Timestamp) // the search found a complete timestamp
	var text strings.Builder
	for _, s := range h.Snippet {
		text.WriteString(s.Text)
	}
	e.Extra["snippet"] = strings.TrimSpace(text.String())
	return e
}
