package warc

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
)

// Limits of Info: the number of WARC files whose first record it reads, the size
// of the block of such a record, and the number of fields.
const (
	maxInfoFiles  = 1000
	maxInfoBlock  = 256 << 10
	maxInfoFields = 4096
)

// Info returns the fields of the warcinfo records at the start of the WARC files
// (WARC 1.1 section 6.2). From WACZ files, it returns title, description, software,
// created and mainPageUrl. Repeated fields with an equal value
// are omitted. Files that have no such record, and damaged files, are skipped.
// Info reads only the start of each WARC file.
func (a *Archive) Info() fetch.Header {
	var all fetch.Header
	seen := map[fetch.Field]bool{}
	add := func(fields fetch.Header) {
		for _, f := range fields {
			if f.Value != "" && !seen[f] && len(all) < maxInfoFields {
				seen[f] = true
				all = append(all, f)
			}
		}
	}
	for _, name := range a.packages {
		if z, err := openPackage(name); err == nil {
			add(packageInfo(z.Reader))
			z.Close()
		}
	}
	names := slices.Sorted(maps.Keys(a.sections))
	for _, name := range names[:min(len(names), maxInfoFiles)] {
		add(a.sections[name].info())
	}
	return all
}

// info returns the fields of the warcinfo record at the start of a WARC file.
func (s section) info() fetch.Header {
	in, err := s.stream()
	if err != nil {
		return nil
	}
	defer in.Close()
	r := NewReader(in)
	h, err := r.Next()
	if err != nil || h.Type() != Info || h.arc {
		return nil
	}
	block, err := io.ReadAll(io.LimitReader(r, maxInfoBlock))
	if err != nil {
		return nil
	}
	return parseFields(string(block))
}

// packageInfo returns fields of datapackage.json in a WACZ file.
func packageInfo(z *zip.Reader) fetch.Header {
	text, err := description(z, "datapackage.json")
	var d struct{ Title, Description, Software, Created, MainPageURL string }
	if err != nil || json.Unmarshal(text, &d) != nil {
		return nil
	}
	return fetch.Header{
		{Name: "title", Value: d.Title}, {Name: "description", Value: d.Description}, {Name: "software", Value: d.Software},
		{Name: "created", Value: d.Created}, {Name: "mainPageUrl", Value: d.MainPageURL},
	}
}

// Pages returns an entry for each page that is listed in the WACZ files of the
// archive. The field Name is the title of the page, or "", and Time is the date
// of its capture. The value of the key seed in the field Extra is "true" if the
// crawl started at the page. The value of the key text is the text of the page,
// if the list has it. WARC files list no pages.
//
// Pages skips invalid lines. A non-nil error ends the sequence.
func (a *Archive) Pages() iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		for _, name := range a.packages {
			z, err := openPackage(name)
			if err != nil {
				yield(fetch.Entry{}, fetch.LocalError(err))
				return
			}
			ok := z.pages(yield)
			z.Close()
			if !ok {
				return
			}
		}
	}
}

// pages calls yield for each listed page of the WACZ file. It reports whether
// yield returned true each time and no error occurred.
func (z packageFile) pages(yield func(fetch.Entry, error) bool) bool {
	limit := maxRatio * z.size
	for _, name := range []string{"pages/pages.jsonl", "pages/extraPages.jsonl"} {
		f, err := z.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			yield(fetch.Entry{}, fetch.Mismatch.With(err))
			return false
		}
		in := bufio.NewReaderSize(f, 64<<10)
		for err == nil {
			var line []byte
			var n int64
			line, n, err = readPage(in)
			if limit -= n; limit < 0 {
				err = fetch.Bomb.Errorf("part %q expands to more than %d times the size of the WACZ file", name, maxRatio)
				break
			}
			if e, ok := pageEntry(line); ok && !yield(e, nil) {
				f.Close()
				return false
			}
		}
		f.Close()
		if err != io.EOF {
			yield(fetch.Entry{}, fetch.Mismatch.With(err))
			return false
		}
	}
	return true
}

// maxPageLine is the maximum length of a line in a page list, in bytes. A line
// can contain the text of a page.
const maxPageLine = 4 << 20

// readPage reads a line of a page list and returns its length n in bytes. The
// result line is nil if n is greater than maxPageLine.
func readPage(in *bufio.Reader) (line []byte, n int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if n <= maxPageLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		if err != bufio.ErrBufferFull {
			return line, n, err
		}
	}
}

// pageEntry returns the entry for a line of a page list. The result ok is false
// if the line is not a page, such as the first line of the list.
func pageEntry(line []byte) (e fetch.Entry, ok bool) {
	var p pageJSON
	if len(line) == 0 || json.Unmarshal(line, &p) != nil {
		return e, false
	}
	u, err := baseuri.ParseAbsolute(p.URL)
	if err != nil {
		return e, false
	}
	e = fetch.Entry{URL: u, Name: p.Title, Kind: fetch.Document, Size: -1}
	e.Time, _ = time.Parse(time.RFC3339, p.Date)
	if p.Seed || p.Text != "" {
		e.Extra = map[string]string{}
	}
	if p.Seed {
		e.Extra["seed"] = "true"
	}
	if p.Text != "" {
		e.Extra["text"] = p.Text
	}
	return e, true
}
