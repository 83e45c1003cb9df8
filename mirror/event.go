package mirror

import (
	"time"
)

// An Event describes one visit. It is a line of crawl.jsonl.
type Event struct {
	Time      time.Time `json:"time"`
	Run       int64     `json:"run"`
	URL       string    `json:"url,omitempty"`
	Via       string    `json:"via,omitempty"`       // URL of the page with the link
	Seed      bool      `json:"seed,omitempty"`      // the URL is a seed of this run
	State     string    `json:"state"`               // a State, "cut" for a WARC file truncated at Offset, or "guard" for the total of Guard
	Unchanged bool      `json:"same,omitempty"`      // the archive already has the object
	Repaired  bool      `json:"repaired,omitempty"`  // unchanged, but its file was missing or damaged
	Unreached bool      `json:"unreached,omitempty"` // pending, because the server could not be reached
	Code      int       `json:"code,omitempty"`      // status code of the response
	Media     string    `json:"media,omitempty"`     // media type
	Size      int64     `json:"size,omitempty"`      // bytes of the retrieved payload
	Millis    int64     `json:"ms"`                  // duration of the visit in milliseconds
	Path      string    `json:"path,omitempty"`      // relative to tree/
	WARC      string    `json:"warc,omitempty"`      // name of the WARC file
	Offset    int64     `json:"offset,omitempty"`    // offset in WARC
	Attempts  int       `json:"attempts,omitempty"`  // number of failed attempts before this one
	Guard     string    `json:"guard,omitempty"`     // name of the Guard that omitted the URL or its links
	Omitted   int64     `json:"omitted,omitempty"`   // number of URLs that Guard omitted
	Note      string    `json:"note,omitempty"`      // reason of a failure or an exclusion

	// Override names the setting that allows a URL that the Policy rejected.
	// Its text comes from Options.Override.
	Override string `json:"override,omitempty"`
}

// A Summary counts the results of a run, in URLs unless a field says otherwise.
type Summary struct {
	Run       int64 // number of the run, from 1
	Repeated  bool  // the archive has an earlier run
	New       int64 // new or changed objects
	Unchanged int64 // requested and unchanged
	Listed    int64 // unchanged according to a listing, and not requested
	Repaired  int64 // unchanged objects whose files were missing or damaged
	Gone      int64 // retrieved by an earlier run, and since deleted on the server
	Failed    int64 // failed permanently
	Unreached int64 // pending for the next run, because the server could not be reached
	Excluded  int64 // not wanted: out of scope, rejected, too large, or of another media type
	Bytes     int64 // size of the new objects, in bytes
	Attic     int64 // files moved to attic/
	Pending   int64 // to be visited by this run

	// NewlyFailed counts the URLs that failed permanently or could not be
	// reached in this run, but not in the previous one. It is 0 until the
	// run ends.
	NewlyFailed int64

	// LeftOut counts the URLs that the guards omitted. The next run omits them
	// again unless the limit is raised. An exception are articles of a
	// newsgroup, which the next run lists again.
	LeftOut LeftOut
}

// Progress is the state of a run that has not ended.
type Progress struct {
	Summary
	Hosts int64 // number of hosts with pending URLs
}
