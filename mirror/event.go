package mirror

import (
	"time"
)

// Event is one visit, as it stands in crawl.jsonl.
type Event struct {
	Time      time.Time `json:"time"`
	Run       int64     `json:"run"`
	URL       string    `json:"url,omitempty"`
	Via       string    `json:"via,omitempty"`
	Seed      bool      `json:"seed,omitempty"`      // it is a seed of this run
	State     string    `json:"state"`               // done, kept, gone, dead, excluded; pending: to be tried again; cut: of WARC, behind Offset
	Unchanged bool      `json:"same,omitempty"`      // unchanged
	Repaired  bool      `json:"repaired,omitempty"`  // unchanged, and its file was missing or damaged
	Unreached bool      `json:"unreached,omitempty"` // pending for the next run: the server could not be reached
	Code      int       `json:"code,omitempty"`
	Media     string    `json:"media,omitempty"`
	Size      int64     `json:"size,omitempty"` // bytes of the payload that was brought
	Millis    int64     `json:"ms"`
	Path      string    `json:"path,omitempty"` // below tree/
	WARC      string    `json:"warc,omitempty"`
	Offset    int64     `json:"offset,omitempty"`
	Attempts  int       `json:"attempts,omitempty"` // that failed before
	Note      string    `json:"note,omitempty"`
	Override  string    `json:"override,omitempty"` // the setting that allows a URL that the Policy refused, as text of Options.Override
}

// Summary tells what a run did.
type Summary struct {
	Run       int64
	Repeated  bool  // there was an earlier run
	New       int64 // objects retrieved, changed ones too
	Unchanged int64 // requested, and unchanged
	Listed    int64 // not requested, because a listing proves that they are unchanged
	Repaired  int64 // unchanged, and retrieved because their files were missing or damaged
	Gone      int64 // retrieved by an earlier run, and deleted on the server since
	Failed    int64 // failed permanently
	Unreached int64 // their servers could not be reached; they are pending for the next run
	Excluded  int64 // not wanted: out of scope, refused, too large or not of a wanted type
	Bytes     int64 // of the contents of what is new
	Attic     int64 // files that were moved out of the tree
	Pending   int64 // pending for this run

	// NewlyFailed counts the URLs that failed in this run or could not be
	// reached, and did not do so in the run before. It is 0 until the run ends.
	NewlyFailed int64

	// URLs that were found and left out, by the limit that did so.
	OverLinks, OverEntries, OverQueue int64
}

// Progress is where a run is.
type Progress struct {
	Summary
	Hosts int64 // with something pending
}
