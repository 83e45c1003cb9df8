package mirror

import (
	"math"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Limits bound a run. Zero is no limit, except where a default is given. A run
// that a limit has ended can be continued.
type Limits struct {
	Files    int64
	Bytes    int64 // of payloads; the object that reaches it is the last
	Time     time.Duration
	PerHost  int64 // files of one host; its others are passed over
	FileSize int64 // larger objects are passed over
	MinFree  int64 // bytes that the disk must keep

	// These bound how much one answer adds to the archive. A run does not end
	// when it reaches one of them; Summary counts the URLs that were left out.
	// URLs that the run knows already do not count. A negative value is no limit.
	Links   int64 // of a page; 0: 10,000
	Entries int64 // of a listing, or of a sitemap; 0: 1,000,000
	Queue   int64 // pending URLs of a host; 0: 1,000,000
}

// The defaults of Limits.
const (
	DefaultLinks   = 10_000
	DefaultEntries = 1_000_000
	DefaultQueue   = 1_000_000
)

// limit returns the bound that n, a field of Limits, means.
func limitOr(n, otherwise int64) int64 {
	switch {
	case n == 0:
		return otherwise
	case n < 0:
		return math.MaxInt64
	}
	return n
}

// ErrLimit says that a limit ended the run before it was complete.
var ErrLimit = fetch.TooLarge.Errorf("a limit of the mirror is reached")
