package crawlreport

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/anyurl/fetch/internal/base/media"
)

// An Outcome is the result of a visit.
type Outcome uint8

const (
	New Outcome = iota
	Unchanged
	Repaired
	Gone
	Failed
	Unreached
	Excluded
	Retried // the visit is repeated later in the run
)

// A Visit describes the visit of one URL.
type Visit struct {
	URL      string
	Scheme   string
	Host     string // "" for a URL without a host
	Outcome  Outcome
	Code     int       // status code of the response, or 0
	Media    string    // media type, or ""
	Size     int64     // size of the object in bytes
	Modified time.Time // time of the last modification, or zero
	Reason   string    // class of the error, or reason of the exclusion
	Error    string    // class of the error, or "" without an error
}

// A Collector counts the visits of a run. The zero Collector is empty. It is
// safe for concurrent use.
type Collector struct {
	mu         sync.Mutex
	totals     Totals
	schemes    table
	hosts      table
	statuses   table
	media      table
	years      table
	failures   table
	exclusions table
	largest    topFiles
	times      map[string]*HostTime
	errors     map[string]int64
	requests   int64
	waited     time.Duration
}

// Counts contains the totals of a run in progress.
type Counts struct {
	Totals
	Errors       map[string]int64 // number of visits with an error, including repeated visits, by class of the error
	Requests     int64            // requests with a response or an error
	ResponseTime time.Duration    // sum of the times until the responses started
}

// Counts returns the totals of all visits so far.
func (c *Collector) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Counts{c.totals, maps.Clone(c.errors), c.requests, c.waited}
}

// Add counts a visit.
func (c *Collector) Add(v Visit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.countError(v)
	if c.count(v); v.Outcome == Retried {
		return
	}
	size := int64(0)
	if isArchived := v.Outcome <= Repaired; isArchived {
		size = v.Size
		c.totals.Archived += size
		c.media.add(orDefault(media.TrimParameters(clip(v.Media)), "unknown"), size)
		c.years.add(yearOf(v.Modified), size)
		if size > 0 {
			c.largest.add(File{clipTo(v.URL, maxURL), size, clip(v.Media)})
		}
	}
	c.schemes.add(clip(v.Scheme), size)
	c.hosts.add(orDefault(clip(v.Host), "none"), size)
	status := "none"
	if v.Code > 0 {
		status = strconv.Itoa(v.Code)
	}
	c.statuses.add(status, size)
}

// countError increments the counter for the error class of v.
func (c *Collector) countError(v Visit) {
	if v.Error == "" || v.Outcome != Failed && v.Outcome != Unreached && v.Outcome != Retried {
		return
	}
	if c.errors == nil {
		c.errors = map[string]int64{}
	}
	c.errors[v.Error]++
}

// count adds v to the totals and to the tables of failures and exclusions.
func (c *Collector) count(v Visit) {
	t := &c.totals
	if v.Outcome == Retried {
		t.Retried++
		return
	}
	t.Visited++
	switch v.Outcome {
	case New:
		t.New++
		t.Bytes += v.Size
	case Unchanged:
		t.Unchanged++
	case Repaired:
		t.Repaired++
	case Gone:
		t.Gone++
	case Failed:
		t.Failed++
		c.failures.add(clip(v.Reason), 0)
	case Unreached:
		t.Unreached++
		c.failures.add(clip(v.Reason), 0)
	case Excluded:
		t.Excluded++
		c.exclusions.add(clip(v.Reason), 0)
	}
}

// AddResponseTime records the response time of a request to host. It keeps
// separate times for at most maxNames hosts.
func (c *Collector) AddResponseTime(host string, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.waited += d
	host = orDefault(clip(host), "none")
	h := c.times[host]
	if h == nil {
		if len(c.times) >= maxNames {
			return
		}
		if c.times == nil {
			c.times = map[string]*HostTime{}
		}
		host = strings.Clone(host) // as in table.add
		h = &HostTime{Host: host}
		c.times[host] = h
	}
	h.Requests++
	h.total += d
	h.Max = max(h.Max, d.Round(time.Microsecond).Seconds())
}

// Report returns the statistics of all visits so far. The caller sets the
// fields that do not result from visits.
func (c *Collector) Report() *Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Report{
		Totals: c.totals, Schemes: c.schemes.sorted(), Hosts: c.hosts.sorted(), Statuses: c.statuses.byName(),
		Media: c.media.sorted(), Years: c.years.byName(), Failures: c.failures.sorted(),
		Exclusions: c.exclusions.sorted(), Guards: []Row{}, SlowestHosts: slowest(c.times),
		LargestFiles: append([]File{}, c.largest...),
	}
}

// maxName is the maximum length of a name in a table, and maxURL is the maximum
// length of a URL, both in bytes.
const (
	maxName = 256
	maxURL  = 2 << 10
)

// clip truncates s to maxName bytes.
func clip(s string) string { return clipTo(s, maxName) }

// clipTo truncates s to at most n bytes, without splitting a character.
func clipTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := n
	for end > n-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end])
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// yearOf returns the year of t, or "unknown". Years after 9999 are unknown.
func yearOf(t time.Time) string {
	if t.IsZero() || t.Year() > 9999 || t.Year() < 1 {
		return "unknown"
	}
	return strconv.Itoa(t.UTC().Year())
}
