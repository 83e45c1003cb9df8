package gateway

import (
	"context"
	"strconv"
	"time"

	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/format/crawlreport"
	"github.com/anyurl/fetch/warc"
)

// maxCounted is the maximum number of captures that statistics contain.
const maxCounted = 1_000_000

// statistics counts the captures in an index. The sizes describe the stored
// records, which are usually compressed.
type statistics struct {
	*crawlreport.Report
	captures    int64
	bytes       int64
	sizes       []crawlreport.Row
	days        map[int64]dayCount // by the number of days since 1970
	first, last time.Time
	newest      []warc.Line // newest captures, at most maxFeed
	partial     bool        // the statistics do not contain all captures
}

type dayCount struct{ captures, bytes int64 }

// maxDays is the maximum number of dates for which statistics count captures.
const maxDays = 40_000

// sizeClasses lists ranges of sizes. Each range ends below its limit in bytes.
var sizeClasses = [...]struct {
	name  string
	limit int64
}{
	{"less than 1 KiB", 1 << 10}, {"1 to 10 KiB", 10 << 10}, {"10 to 100 KiB", 100 << 10}, {"100 KiB to 1 MiB", 1 << 20},
	{"1 to 10 MiB", 10 << 20}, {"10 to 100 MiB", 100 << 20}, {"100 MiB and more", 1<<63 - 1},
}

// count returns statistics of the index. The first call reads at most maxCounted
// lines, and later calls return the same result. Concurrent calls wait, so that
// only one of them reads the index.
func (c *collection) count(ctx context.Context) (*statistics, error) {
	return c.statistics.get(ctx, c.readStatistics)
}

func (c *collection) readStatistics(ctx context.Context) (*statistics, error) {
	s := &statistics{sizes: make([]crawlreport.Row, len(sizeClasses)), days: map[int64]dayCount{}}
	var collector crawlreport.Collector
	for l, err := range c.Source.Search("", 0) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if s.captures == maxCounted {
			s.partial = true
			break
		}
		s.add(l)
		collector.Add(visitOf(l))
	}
	s.Report = collector.Report()
	return s, nil
}

// visitOf returns the properties of a capture that a crawlreport.Collector
// counts.
func visitOf(l warc.Line) crawlreport.Visit {
	v := crawlreport.Visit{URL: l.URL, Media: l.Media, Size: l.Length}
	if u, err := baseuri.ParseAbsolute(l.URL); err == nil {
		v.Scheme, v.Host = u.Scheme(), u.Host()
	}
	v.Code, _ = strconv.Atoi(l.Status)
	return v
}

// add counts the size and the date of a capture.
func (s *statistics) add(l warc.Line) {
	s.captures++
	s.bytes += l.Length
	for i, class := range sizeClasses {
		if l.Length < class.limit {
			s.sizes[i].Name = class.name
			s.sizes[i].URLs++
			s.sizes[i].Bytes += l.Length
			break
		}
	}
	at, ok := parseTimestamp(l.Timestamp)
	if !ok {
		return
	}
	if len(l.URL) <= maxFeedURL {
		s.newest = keepNewest(s.newest, warc.Line{Timestamp: l.Timestamp, URL: l.URL})
	}
	if s.first.IsZero() || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
	key := dayOf(at)
	day, known := s.days[key]
	if !known && len(s.days) == maxDays {
		return
	}
	s.days[key] = dayCount{day.captures + 1, day.bytes + l.Length}
}

// A span is the length of the period of one column in the growth chart.
type span struct {
	name  string
	index func(t time.Time) int // number of the period that contains t
}

// spans lists the possible periods, beginning with the shortest.
var spans = []span{
	{"day", func(t time.Time) int { return int(dayOf(t)) }},
	{"month", func(t time.Time) int { return t.Year()*12 + int(t.Month()) - 1 }},
	{"year", func(t time.Time) int { return t.Year() }},
	{"decade", func(t time.Time) int { return t.Year() / 10 }},
	{"century", func(t time.Time) int { return t.Year() / 100 }},
	{"millennium", func(t time.Time) int { return t.Year() / 1000 }},
}

// maxColumns is the maximum number of columns of a chart.
const maxColumns = 60

// periods counts the captures and bytes of each period from the first capture
// to the last one. It also returns the name of the period, such as "month". The
// result is empty if all captures belong to the same day.
func (s *statistics) periods() (name string, counts []dayCount) {
	if s.first.IsZero() {
		return "", nil
	}
	for _, p := range spans {
		first := p.index(s.first)
		n := p.index(s.last) - first + 1
		if n == 1 {
			return "", nil
		}
		if n > maxColumns {
			continue
		}
		counts = make([]dayCount, n)
		for key, day := range s.days {
			at := p.index(dateOf(key)) - first
			counts[at].captures += day.captures
			counts[at].bytes += day.bytes
		}
		return p.name, counts
	}
	return "", nil
}
