package gateway

import (
	"context"
	"time"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A selection contains the timestamps of the capture of a URL that is nearest to
// a period, and of its neighbors.
type selection struct {
	first, previous, chosen, next, last string // "" if there is no such capture
	status                              string // status code of the chosen capture, or ""
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
// it selects the latest capture. It reads only the index.
func (c *collection) choose(ctx context.Context, u uri.URI, p period) (s selection, err error) {
	var best time.Duration
	for l, err := range c.lines(ctx, u) {
		if err != nil {
			return s, err
		}
		at, _ := parseTimestamp(l.Timestamp)
		distance := time.Duration(0)
		if !p.first.IsZero() {
			distance = p.distance(at)
		}
		if s.chosen == "" || distance < best || distance == best && l.Timestamp > s.chosen {
			best, s.chosen, s.status = distance, l.Timestamp, l.Status
		}
		if s.first == "" || l.Timestamp < s.first {
			s.first = l.Timestamp
		}
		s.last = max(s.last, l.Timestamp)
	}
	for l, err := range c.lines(ctx, u) {
		if err != nil {
			return s, err
		}
		if l.Timestamp < s.chosen {
			s.previous = max(s.previous, l.Timestamp)
		}
		if l.Timestamp > s.chosen && (s.next == "" || l.Timestamp < s.next) {
			s.next = l.Timestamp
		}
	}
	return s, nil
}

// lines calls yield for each index line of u that has a valid timestamp. An
// error ends the sequence.
func (c *collection) lines(ctx context.Context, u uri.URI) func(yield func(warc.Line, error) bool) {
	return func(yield func(warc.Line, error) bool) {
		for l, err := range c.Source.Lookup(u) {
			if err == nil {
				err = ctx.Err()
			}
			if _, ok := parseTimestamp(l.Timestamp); err == nil && !ok {
				continue
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}
