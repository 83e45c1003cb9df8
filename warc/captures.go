package warc

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
)

// Captures returns an entry for each capture of u, sorted by date. Captures of
// the same second are sorted by the positions of their records. The entries have
// the fields that [Entries] describes. The entry of a revisit record has the size
// of the original, if the archive has the original. If the record of a capture
// cannot be read, its entry has only the values of the index. The field Extra
// then has the key error.
func (a *Archive) Captures(ctx context.Context, u uri.URI) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		for l, err := range a.linesOf(u) {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			e, ok := a.entry(ctx, l)
			if ok && !yield(e, nil) {
				return
			}
		}
	}
}

// entry returns the entry for the record to which l refers. The result ok is
// false if the record is not a capture.
func (a *Archive) entry(ctx context.Context, l Line) (e fetch.Entry, ok bool) {
	rec, err := a.openRecord(l)
	if err != nil {
		return l.entry(err), true
	}
	defer rec.Close()
	if !rec.head.isCapture() {
		return e, false
	}
	head := rec.head
	if e, err = rec.entry(head); e.Extra == nil {
		return l.entry(err), true
	}
	for range maxRevisits {
		if head.Type() != Revisit {
			break
		}
		original, err := a.openOriginal(ctx, head)
		if err != nil {
			break // the original is in another archive
		}
		head = original.head
		if of, _ := original.entry(head); of.Extra != nil {
			e.Size, e.Media = of.Size, cmp.Or(e.Media, of.Media)
		}
		original.Close()
	}
	return e, true
}

// entry returns an entry with only the values of the index line, because err
// prevents reading the record. The field Extra contains err.
func (l Line) entry(err error) fetch.Entry {
	e := fetch.Entry{Name: l.URL, Kind: fetch.Document, Media: l.Media, Size: -1, Extra: map[string]string{"error": err.Error()}}
	e.Time, _ = time.Parse("20060102150405", l.Timestamp)
	e.URL, _ = parseURL(l.URL)
	if l.Status != "" {
		e.Extra["status"] = l.Status
	}
	if l.Digest != "" {
		e.Extra["digest"] = l.Digest
	}
	return e
}

// isCapture reports whether a record with this header can be replayed. wget
// stores its list of records as a metadata record with its own URL.
func (h *Header) isCapture() bool {
	switch h.Type() {
	case Response, Resource, Revisit, Conversion:
		return true
	case Metadata:
		return strings.HasPrefix(h.Target(), "metadata:")
	}
	return false
}

// linesOf returns the index lines of u and of equivalent URLs. If the index has
// none, it returns the lines of the URL without its login. A mirror removes
// logins from the URLs of listings and files. Otherwise it returns the lines of
// the https URL for an http URL, and vice versa. It returns lines of responses to
// other methods than GET only if there are no other lines.
func (a *Archive) linesOf(u uri.URI) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		targets := []string{targetURI(u)}
		if anyone := u.WithoutUserinfo(); anyone != u {
			targets = append(targets, targetURI(anyone))
		}
		for _, target := range targets {
			if other, ok := otherScheme(target); ok {
				targets = append(targets, other)
			}
		}
		found := false
		for _, otherMethods := range []bool{false, true} {
			for _, target := range targets {
				for l, err := range a.linesOfTarget(target, otherMethods) {
					found = true
					if !yield(l, err) || err != nil {
						return
					}
				}
				if found {
					return
				}
			}
		}
	}
}

// linesOfTarget returns the index lines of a URL and of equivalent URLs with
// the same scheme. The parameter target is the result of targetURI.
func (a *Archive) linesOfTarget(target string, otherMethods bool) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		same, err := uri.ParseZone(target)
		if err != nil {
			yield(Line{}, fetch.BadURL.With(err))
			return
		}
		same = same.Normalize(uri.ByScheme)
		for _, key := range keysOf(target, same) {
			for l, err := range byPosition(a.linesWithKey(escape(key, " "), otherMethods)) {
				if err == nil && l.URL != target {
					other, err := parseURL(l.URL)
					if err != nil || other.Normalize(uri.ByScheme) != same {
						continue
					}
				}
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// linesWithKey returns the index lines with the given key. If otherMethods is
// true, it returns the lines of responses to other methods than GET instead.
func (a *Archive) linesWithKey(key string, otherMethods bool) iter.Seq2[Line, error] {
	if !otherMethods {
		return a.lookupPrefix(key + " ")
	}
	// The parameters in a key are sorted. Most of them follow the method, because
	// the underscore precedes all letters.
	path, _, hasQuery := strings.Cut(key, "?")
	prefixes := []string{path + "?" + methodKey}
	if hasQuery { // earlier versions did not sort the method
		prefixes = append(prefixes, key+"&"+methodKey)
	}
	return func(yield func(Line, error) bool) {
		for _, prefix := range prefixes {
			for l, err := range a.lookupPrefix(prefix) {
				if err == nil && escape(Key(l.URL), " ") != key {
					continue
				}
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// linesOfAllMethods returns the index lines with the given key, including those
// of responses to other methods than GET.
func (a *Archive) linesOfAllMethods(key string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for _, otherMethods := range []bool{false, true} {
			for l, err := range a.linesWithKey(escape(key, " "), otherMethods) {
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// nearest collects index lines of one URL and keeps those nearest to
// Archive.Time, at most 2*maxOpened lines. Their fields have at most 2*maxKept
// bytes, unless a single line is longer.
type nearest struct {
	*Archive
	lines []Line
	size  int  // number of bytes in lines
	good  Line // nearest line with a 2xx status
}

// maxKept limits the index lines of a URL that are in memory at the same time,
// in bytes. A line of a forged index can have a megabyte.
const maxKept = 2 << 20

func (n *nearest) add(l Line) {
	if strings.HasPrefix(l.Status, "2") && (n.good.Key == "" || n.compare(l, n.good) <= 0) {
		n.good = l
	}
	n.lines, n.size = append(n.lines, l), n.size+l.size()
	if len(n.lines) <= 2*maxOpened && n.size <= 2*maxKept {
		return
	}
	kept, size := 1, n.sorted()[0].size()
	for kept <= maxOpened && kept < len(n.lines) && size+n.lines[kept].size() <= maxKept {
		size += n.lines[kept].size()
		kept++
	}
	n.lines, n.size = append([]Line(nil), n.lines[:kept]...), size
}

// sorted returns the lines, nearest first. If two captures are equally near,
// the later capture comes first.
func (n *nearest) sorted() []Line {
	slices.SortStableFunc(n.lines, n.compare)
	return n.lines
}

// compare returns a negative number if replay prefers the capture of x to the
// capture of y.
func (n *nearest) compare(x, y Line) int {
	later := cmp.Or(cmp.Compare(y.Timestamp, x.Timestamp), comparePositions(y, x))
	if n.Time.IsZero() {
		return later
	}
	return cmp.Or(cmp.Compare(n.distance(x), n.distance(y)), later)
}

// comparePositions compares the positions of two records. The result orders
// captures of the same second. The names of the WARC files of a program start
// with their dates, and each file is written sequentially.
func comparePositions(x, y Line) int {
	return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Offset, y.Offset))
}

// byPosition sorts consecutive lines with the same timestamp by the positions of their
// records, at most maxOpened lines or about maxKept bytes at a time.
func byPosition(lines iter.Seq2[Line, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var same []Line // lines with the same timestamp
		size := 0       // number of bytes in same
		flush := func() bool {
			slices.SortStableFunc(same, comparePositions)
			for _, l := range same {
				if !yield(l, nil) {
					return false
				}
			}
			clear(same)
			same, size = same[:0], 0
			return true
		}
		for l, err := range lines {
			full := len(same) > 0 && (err != nil || l.Timestamp != same[0].Timestamp || len(same) == maxOpened || size > maxKept)
			if full && !flush() {
				return
			}
			if err != nil {
				yield(l, err)
				return
			}
			same, size = append(same, l), size+l.size()
		}
		flush()
	}
}

// distance returns the time between the capture of l and the period that Time
// and Until select, or 0 within this period.
func (n *nearest) distance(l Line) time.Duration {
	at, err := time.Parse("20060102150405", l.Timestamp)
	first := n.Time.Truncate(time.Second)
	last := first
	if n.Until.After(first) {
		last = n.Until
	}
	switch {
	case err != nil:
		return 1<<63 - 1
	case at.Before(first):
		return first.Sub(at)
	case at.After(last):
		return at.Sub(last)
	}
	return 0
}

// noteSuccess adds a note to the trace if replay chose an error response,
// although the archive also contains a successful response.
func (n *nearest) noteSuccess(t *trace.Trace, chosen Line) {
	if n.good.Key != "" && chosen.Status >= "400" && chosen.Status <= "599" {
		t.Notef("the capture is an error of the server; the object was captured at %s", n.good.Timestamp)
	}
}
