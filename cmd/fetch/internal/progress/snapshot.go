// Package progress shows the progress of downloads and mirrors: as status lines
// at the bottom of a terminal, and as records for logs.
package progress

import (
	"fmt"
	"time"
)

// A Snapshot is the progress of a command at one moment. Counts are numbers of
// URLs unless a comment states another unit.
type Snapshot struct {
	URL     string  `json:"url,omitempty"`  // the URL under way
	Bytes   int64   `json:"bytes"`          // received bytes of URL, or of all URLs of a mirror
	Size    int64   `json:"size,omitempty"` // size of URL in bytes, or 0 if unknown
	Rate    float64 `json:"rate"`           // average in bytes per second
	Elapsed float64 `json:"elapsed"`        // seconds
	ETA     float64 `json:"eta,omitempty"`  // estimated seconds until the end, or 0 if unknown

	Active    int64 `json:"active"` // URLs under way
	Done      int64 `json:"done"`
	Failed    int64 `json:"failed"`
	Retries   int64 `json:"retries,omitempty"`   // number of requests that were sent again
	Unchanged int64 `json:"unchanged,omitempty"` // for a mirror, objects that were not retrieved again
	Left      int64 `json:"left,omitempty"`      // for a mirror, URLs in the queue
	Hosts     int64 `json:"hosts,omitempty"`     // for a mirror, number of hosts with URLs in the queue

	WaitingHost  string    `json:"waiting_host,omitempty"` // for a mirror, the host whose pause prevents all requests
	WaitingUntil time.Time `json:"waiting_until,omitzero"` // end of this pause

	started bool // the response has arrived
}

// Text returns the snapshot as one line of any length.
func (s *Snapshot) Text() string { return s.line(s.parts(), 0, false) }

// parts returns the parts of the status line for a download, from left to
// right.
func (s *Snapshot) parts() []part {
	if !s.started {
		return s.appendErrors([]part{{"waiting for the response", 3}, {clock(s.Elapsed), 2}})
	}
	all := []part{{Size(s.Bytes), 9}}
	if s.Size > 0 {
		all = append(all, part{"/ " + Size(s.Size), 6})
	}
	all = append(all, part{Size(int64(s.Rate)) + "/s", 8}, part{clock(s.Elapsed), 3})
	if s.ETA > 0 {
		all = append(all, part{"eta " + clock(s.ETA), 5})
	}
	return s.appendErrors(all)
}

// appendErrors appends the numbers of failed URLs and of repeated requests.
func (s *Snapshot) appendErrors(all []part) []part {
	for _, count := range []struct {
		n    int64
		name string
	}{{s.Failed, "failed"}, {s.Retries, "retried"}} {
		if count.n > 0 {
			all = append(all, part{fmt.Sprintf(", %d %s", count.n, count.name), 7})
		}
	}
	return all
}

// share returns the received fraction of the object, from 0 to 1, or a negative
// number if it is unknown.
func (s *Snapshot) share() float64 {
	if s.Size <= 0 {
		return -1
	}
	return min(float64(s.Bytes)/float64(s.Size), 1)
}

// Size formats a number of bytes, such as "1.5 MiB".
func Size(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprint(n, " B")
	}
	value, i := float64(n)/(1<<10), 0
	for value >= 1023.95 && i < len(units)-1 {
		value, i = value/(1<<10), i+1
	}
	return fmt.Sprintf("%.1f %ciB", value, units[i])
}

// clock formats a number of seconds, such as "1:05" or "2:00:00".
func clock(seconds float64) string {
	n := int64(min(seconds, 1e9) + 0.5)
	if n >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}

// since returns the seconds since t.
func since(t time.Time) float64 { return time.Since(t).Seconds() }

// rate returns the average number of bytes per second.
func rate(bytes int64, seconds float64) float64 { return float64(bytes) / max(seconds, 0.001) }
