package mirror

import (
	"math"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Limits contains the limits of a run, such as the number of files. A zero
// field means the default, or no limit if there is no default. A run that
// reached a limit can be continued.
type Limits struct {
	Files    int64         `json:"files,omitempty"` // number of objects that the run visits, including unchanged and failed objects
	Bytes    int64         `json:"bytes,omitempty"` // total size of these objects; the run ends after the object that reaches the limit
	Time     time.Duration `json:"-"`
	PerHost  int64         `json:"per_host,omitempty"`  // number of objects of one host; all other URLs of the host are excluded
	FileSize int64         `json:"file_size,omitempty"` // maximum size of an object in bytes; larger objects are excluded
	MinFree  int64         `json:"min_free,omitempty"`  // free bytes that must remain on the disk

	// The following fields limit the URLs that one response adds to the
	// archive. If one of these limits is reached, the run continues, and the
	// Summary contains the number of omitted URLs. Only URLs that are new to
	// the run count. A negative value means no limit.
	Links   int64 `json:"links,omitempty"`   // links in a page; 0 means 10,000
	Entries int64 `json:"entries,omitempty"` // entries in a listing or sitemap; 0 means 1,000,000
	Queue   int64 `json:"queue,omitempty"`   // pending URLs of a host; 0 means 1,000,000

	// The following fields protect a run against sites with an unlimited number
	// of URLs. If one of these limits is reached, the run continues, and the
	// Summary contains the number of excluded URLs. A negative value means no
	// limit.
	URLBytes  int64 `json:"url_bytes,omitempty"`  // length of a URL in bytes; 0 means 8,192
	Repeats   int64 `json:"repeats,omitempty"`    // occurrences of one segment in a path; 0 means 3
	Queries   int64 `json:"queries,omitempty"`    // queries of one path; 0 means 200,000
	Chained   int64 `json:"chained,omitempty"`    // similar URLs found after a chain of more than 50 links between such URLs; 0 means 5,000
	DeepPaths int64 `json:"deep_paths,omitempty"` // paths of a web host with more than 20 segments; 0 means 1,000
	Sitemaps  int64 `json:"sitemaps,omitempty"`   // sitemaps of a host; 0 means 1,000

	// SameText limits the pages of a host that have the same text and that add
	// URLs. Pages have the same text if they differ only inside tags, in words
	// with digits. These pages add at most SameText/15 URLs that look random.
	// Such a URL contains a word of at least 8 letters and digits. 0 means
	// 4,500.
	SameText int64 `json:"same_text,omitempty"`
}

// The default values of the fields of Limits with the same names.
const (
	defaultLinks   = 10_000
	defaultEntries = 1_000_000
	defaultQueue   = 1_000_000

	defaultURLBytes  = 8 << 10
	defaultRepeats   = 3
	defaultQueries   = 200_000
	defaultChained   = 5_000
	defaultDeepPaths = 1_000
	defaultSitemaps  = 1_000
	defaultSameText  = 4_500
)

// DefaultLimits returns the Limits that the zero Limits select. Its fields that
// are zero mean no limit.
func DefaultLimits() Limits {
	return Limits{
		Links: defaultLinks, Entries: defaultEntries, Queue: defaultQueue, URLBytes: defaultURLBytes, Repeats: defaultRepeats,
		Queries: defaultQueries, Chained: defaultChained, DeepPaths: defaultDeepPaths, Sitemaps: defaultSitemaps, SameText: defaultSameText,
	}
}

// limitOr returns the limit for the value n of a field of Limits. Zero means
// the default, which is the parameter otherwise. A negative n means no limit.
func limitOr(n, otherwise int64) int64 {
	switch {
	case n == 0:
		return otherwise
	case n < 0:
		return math.MaxInt64
	}
	return n
}

// ErrLimit means that a limit ended the run before it was complete.
var ErrLimit = fetch.TooLarge.Errorf("a limit of the mirror is reached")
