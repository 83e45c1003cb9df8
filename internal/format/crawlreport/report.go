// Package crawlreport collects statistics about a crawl. It writes them as JSON
// and as text.
//
// A [Collector] counts the visits of a run in tables of bounded size. Its
// method Report returns a [Report], which does not depend on the order of the
// visits unless a table was full.
package crawlreport

import (
	"encoding/json"
	"io"
	"time"
)

// A Report contains the statistics of one run.
type Report struct {
	Run     int64     `json:"run"`     // number of the run, from 1
	Started time.Time `json:"started"` // start of the process that wrote the report
	Ended   time.Time `json:"ended"`   // end of the visits

	// Result is "complete", "limit", "paused" or "interrupted", or the class of the error
	// that ended the run, such as "disk-full".
	Result string `json:"result"`

	// Continued is true if an earlier process started the run and did not
	// finish it. The Report does not contain the visits of that process.
	Continued bool `json:"continued"`

	Seeds  int    `json:"seeds"` // number of seeds
	Totals Totals `json:"totals"`

	Schemes  []Row `json:"schemes"`
	Hosts    []Row `json:"hosts"`
	Statuses []Row `json:"statuses"` // by status code, or "none"
	Media    []Row `json:"media"`    // by media type, or "unknown"
	Years    []Row `json:"years"`    // by year of the last modification, or "unknown"

	Failures   []Row `json:"failures"`   // failed and unreached URLs, by class of the error
	Exclusions []Row `json:"exclusions"` // excluded URLs, by reason
	Guards     []Row `json:"guards"`     // URLs that guards omitted, by guard

	SlowestHosts []HostTime `json:"slowest_hosts"`
	LargestFiles []File     `json:"largest_files"`
}

// Others is the name of the row that contains the sum of the rows that a Report
// omits from a table.
const Others = "(others)"

// Totals contains the counters of a run. They count URLs unless a comment
// states another unit.
type Totals struct {
	Visited   int64 `json:"visited"`   // URLs with a final result, the sum of the next seven fields
	New       int64 `json:"new"`       // new or changed objects
	Unchanged int64 `json:"unchanged"` // including URLs for which no request was sent
	Repaired  int64 `json:"repaired"`
	Gone      int64 `json:"gone"`
	Failed    int64 `json:"failed"`
	Unreached int64 `json:"unreached"`
	Excluded  int64 `json:"excluded"`
	Retried   int64 `json:"retried"`  // failed visits that were repeated; not a number of URLs
	Pending   int64 `json:"pending"`  // URLs that the run has not visited
	LeftOut   int64 `json:"left_out"` // URLs that the guards omitted
	NoFollow  int64 `json:"nofollow"` // links with nofollow that were not followed
	Bytes     int64 `json:"bytes"`    // bytes of new objects
	Archived  int64 `json:"archived"` // bytes of new, unchanged and repaired objects
}

// A Row is a table row. It contains the number of URLs that share a property,
// such as the host.
type Row struct {
	Name  string `json:"name"`
	URLs  int64  `json:"urls"`
	Bytes int64  `json:"bytes,omitempty"` // size of the new, unchanged and repaired objects
}

// A HostTime contains the response times of a host. A response time is the time
// from the request to the start of the response, including the connection.
type HostTime struct {
	Host     string  `json:"host"`
	Requests int64   `json:"requests"`
	Mean     float64 `json:"mean_seconds"`
	Max      float64 `json:"max_seconds"`

	total time.Duration
}

// A File is an archived object in the list of the largest files.
type File struct {
	URL   string `json:"url"`
	Bytes int64  `json:"bytes"`
	Media string `json:"media,omitempty"`
}

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
