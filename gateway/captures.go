package gateway

import (
	"context"
	"time"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A selection describes the capture of a URL that is nearest to the requested
// period. It also contains the timestamps of the neighboring captures.
type selection struct {
	first, previous, chosen, next, last string    // "" if there is no such capture
	line                                warc.Line // index line of the chosen capture
}

// timeForm is the format of the timestamps in an index.
const timeForm = "20060102150405"

// parseTimestamp parses the timestamp of an index line.
func parseTimestamp(text string) (time.Time, bool) {
	t, err := time.Parse(timeForm, text)
	return t, err == nil
}

// choose selects the capture of u that is nearest to the period p. Of two
// captures with the same distance, it selects the later one. With a zero period
// it selects the latest capture. It reads only the index. It reads the index
// twice if the URL has more than maxKept captures.
func (c *collection) choose(ctx context.Context, u uri.URI, p period) (s selection, err error) {
	var best time.Duration
	var kept []string
	for l, err := range c.lines(ctx, u) {
		if err != nil {
			return s, err
		}
		at, _ := parseTimestamp(l.Timestamp)
		distance := time.Duration(0)
		if !p.first.IsZero() {
			distance = p.distance(at)
		}
		if s.chosen == "" || distance < best || distance == best && l.Timestamp >= s.chosen {
			best, s.chosen, s.line = distance, l.Timestamp, l
		}
		if len(kept) <= maxKept {
			kept = append(kept, l.Timestamp)
		}
		if s.first == "" || l.Timestamp < s.first {
			s.first = l.Timestamp
		}
		s.last = max(s.last, l.Timestamp)
	}
	if len(kept) <= maxKept {
		for _, timestamp := range kept {
			s.addNeighbor(timestamp)
		}
		return s, nil
	}
	for l, err := range c.lines(ctx, u) {
		if err != nil {
			return s, err
		}
		s.addNeighbor(l.Timestamp)
	}
	return s, nil
}

// maxKept is the maximum number of timestamps that choose keeps in memory.
const maxKept = 1000

// addNeighbor makes timestamp the previous or next capture if it is nearer to
// the chosen capture than the current one.
func (s *selection) addNeighbor(timestamp string) {
	if timestamp < s.chosen {
		s.previous = max(s.previous, timestamp)
	}
	if timestamp > s.chosen && (s.next == "" || timestamp < s.next) {
		s.next = timestamp
	}
}

// lines returns an iterator over the index lines of u that have a valid
// timestamp. An error ends the sequence.
func (c *collection) lines(ctx context.Context, u uri.URI) func(yield func(warc.Line, error) bool) {
	return func(yield func(warc.Line, error) bool) {
		url := u.Unredacted()
		kept, ok := c.lookups.get(url)
		for _, l := range kept {
			if !yield(l, ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
		if ok {
			return
		}
		for l, err := range c.Source.Lookup(u) {
			if err == nil {
				err = ctx.Err()
			}
			if _, ok := parseTimestamp(l.Timestamp); err == nil && !ok {
				continue
			}
			if len(kept) <= maxLookup {
				kept = append(kept, l)
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
		if len(kept) <= maxLookup { // kept contains all lines
			c.lookups.add(url, kept)
		}
	}
}

const (
	maxLookup  = 20      // maximum number of index lines that are cached for a URL
	maxLookups = 4 << 20 // maximum size of all cached index lines in bytes
)

// newLookups returns a cache of index lines by URL.
func newLookups() *lru[string, []warc.Line] {
	return newLRU(maxLookups, func(url string, lines []warc.Line) int {
		size := len(url) + 128
		for _, l := range lines {
			size += len(l.Key) + len(l.URL) + len(l.Digest) + len(l.File) + len(l.Media) + 256
		}
		return size
	})
}
