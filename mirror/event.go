package mirror

import (
	"time"
)

// An Event describes the visit of one URL. It is written as a line of
// crawl.jsonl, with additional members that only Recover reads. Events that are no
// visits have another State:
//
//	cut      a WARC file was truncated at Offset
//	lost     records of a WARC file are missing
//	healed   a repair of Heal
//	guard    the total of the field Guard
//	waits    an upload failed and is repeated
//	paused   the worker claims no hosts
//	resumed  the end of this pause
//	denied   the Policy denies URLs because the user did not enter their seeds; once in a run
//	waiting  all hosts with pending URLs are paused after a failure
type Event struct {
	Time      time.Time `json:"time"`
	Run       int64     `json:"run"`
	URL       string    `json:"url,omitempty"`
	Via       string    `json:"via,omitempty"`       // URL of the page with the link
	Depth     int       `json:"depth,omitempty"`     // number of links between a seed and the URL
	Seed      bool      `json:"seed,omitempty"`      // if true, the URL is a seed of this run
	Rejected  bool      `json:"rejected,omitempty"`  // if true, the URL is a seed, or the target of its redirect, and was excluded or is gone
	State     string    `json:"state"`               // a State, or another value, which the comment of Event lists
	Unchanged bool      `json:"same,omitempty"`      // if true, the archive already has the object
	Repaired  bool      `json:"repaired,omitempty"`  // if true, the object is unchanged, but its file was missing or damaged
	Unreached bool      `json:"unreached,omitempty"` // if true, the URL is pending, because the server could not be reached
	Code      int       `json:"code,omitempty"`      // status code of the response
	Media     string    `json:"media,omitempty"`     // media type
	Size      int64     `json:"size,omitempty"`      // bytes of the retrieved payload
	SHA256    string    `json:"sha256,omitempty"`    // digest of a new object, in hexadecimal digits
	Validator string    `json:"validator,omitempty"` // validator of a new object, such as an entity tag
	Modified  time.Time `json:"modified,omitzero"`   // modification time of a new object according to the server
	Millis    int64     `json:"ms"`                  // duration of the visit in milliseconds
	Path      string    `json:"path,omitempty"`      // relative to tree/
	WARC      string    `json:"warc,omitempty"`      // name of the WARC file
	Offset    int64     `json:"offset,omitempty"`    // offset in WARC
	Attempts  int       `json:"attempts,omitempty"`  // number of failed attempts before this one
	Guard     string    `json:"guard,omitempty"`     // name of the Guard that omitted the URL or its links
	Omitted   int64     `json:"omitted,omitempty"`   // number of URLs that Guard omitted
	Sessions  int64     `json:"sessions,omitempty"`  // number of links with session identifiers or ignored parameters
	NoFollow  int64     `json:"nofollow,omitempty"`  // number of links that were not followed because of Options.NoFollow
	Guessed   bool      `json:"guessed,omitempty"`   // if true, the URL does not exist, and no document contains it, such as the URL of robots.txt
	Unread    bool      `json:"unread,omitempty"`    // if true, Options.Browser could not open or read the page, as Note describes
	Note      string    `json:"note,omitempty"`      // reason of a failure or an exclusion

	// Override names the setting that allows a URL that the Policy denied. The
	// function Options.Override returns this text.
	Override string `json:"override,omitempty"`

	Err error `json:"-"` // error of the visit, or nil
}

// A Summary contains the results of a run. The numbers count URLs unless a
// comment states another unit.
type Summary struct {
	Run       int64 // number of the run, from 1
	Repeated  bool  // if true, the archive has an earlier run
	New       int64 // retrieved objects that are new or changed
	Unchanged int64 // objects that were requested and are unchanged
	Listed    int64 // objects that were not requested, because a listing shows them as unchanged
	Repaired  int64 // unchanged objects whose files were missing or damaged
	Gone      int64 // objects of earlier runs that were deleted on the server
	Failed    int64 // URLs that failed permanently
	Unreached int64 // URLs left for the next run, because the server could not be reached
	Unread    int64 // retrieved pages that Options.Browser could not open or read
	Bytes     int64 // size of the new objects, in bytes
	Attic     int64 // number of files moved to attic/
	Pending   int64 // URLs that this run has not visited yet

	// Dead counts the URLs of the archive at the end of the run that failed
	// permanently. Postponed counts those left for the next run, because the server
	// could not be reached. Both include URLs that earlier processes and other
	// workers have visited.
	Dead, Postponed int64

	// Excluded counts the URLs that the run was to visit and then rejected. They are
	// denied by the Policy, robots.txt or ExcludeHost, too large, or of another media
	// type. URLs of earlier runs and targets of redirects can also be out of scope.
	// Links that the Scope omits are not counted, and neither are missing URLs that
	// no document contains, such as the URL of robots.txt.
	Excluded int64

	// NewlyFailed counts the URLs that failed in this run but not in the
	// previous run. URLs that could not be reached also count. The value is 0
	// until the run ends.
	NewlyFailed int64

	// LeftOut counts the URLs that the guards omitted. The next run omits them
	// again unless the limit is raised. An exception are articles of a
	// newsgroup, which the next run lists again.
	LeftOut LeftOut

	HostLimit    int64 // URLs excluded because of Limits.PerHost
	SessionLinks int64 // links with session identifiers or ignored parameters
	NoFollow     int64 // links that were not followed because of Options.NoFollow
}

// Progress contains the results of a run so far.
type Progress struct {
	Summary
	Hosts int64 // number of hosts with pending URLs
}
