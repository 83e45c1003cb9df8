package mirror

// A Guard is a limit at which a run omits URLs instead of ending. Guards
// protect a run against sites with an unlimited number of URLs.
type Guard uint8

// Each guard enforces the field of Limits with the same name.
const (
	OverLinks Guard = iota
	OverEntries
	OverQueue
	OverURLBytes
	OverRepeats
	OverQueries
	OverChained
	OverDeepPaths
	OverSitemaps
	OverSameText
	guardCount
)

var guardNames = [guardCount]string{
	"links", "entries", "queue", "url-bytes", "repeats", "queries", "chained", "deep-paths", "sitemaps", "same-text",
}

// String returns the name of the guard as in crawl.jsonl, such as "queries".
func (g Guard) String() string { return guardNames[g] }

// LeftOut contains the number of URLs that each Guard omitted. The index is the
// Guard.
type LeftOut [guardCount]int64

// Total returns the number of URLs that all guards omitted.
func (l *LeftOut) Total() (n int64) {
	for _, omitted := range l {
		n += omitted
	}
	return n
}

// first returns the name of the first guard that omitted a URL, or "".
func (l *LeftOut) first() string {
	for g, n := range l {
		if n > 0 {
			return Guard(g).String()
		}
	}
	return ""
}

// These notes are stored with the URLs that a guard excludes.
const (
	reasonURLBytes  = "the URL is too long"
	reasonRepeats   = "a segment repeats too often in the path"
	reasonQueries   = "too many queries for one path"
	reasonChained   = "too many similar URLs in a long chain of links"
	reasonDeepPaths = "too many deep paths on one host"
)

// guardOf returns the guard that excludes URLs for the given reason. The result
// ok is false if the reason belongs to no guard.
func guardOf(reason string) (g Guard, ok bool) {
	switch reason {
	case reasonURLBytes:
		return OverURLBytes, true
	case reasonRepeats:
		return OverRepeats, true
	case reasonQueries:
		return OverQueries, true
	case reasonChained:
		return OverChained, true
	case reasonDeepPaths:
		return OverDeepPaths, true
	}
	return 0, false
}

const (
	chainStart = 50 // number of links between similar URLs before Limits.Chained applies
	deepPath   = 20 // number of segments in a path before Limits.DeepPaths applies
)
