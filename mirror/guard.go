package mirror

// A Guard is a limit that omits URLs without ending the run. Guards protect
// against sites with an unlimited number of URLs.
type Guard uint8

// The guards, each named after its field of Limits.
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
	guardCount
)

var guardNames = [guardCount]string{
	"links", "entries", "queue", "url-bytes", "repeats", "queries", "chained", "deep-paths", "sitemaps",
}

// String returns the name of the guard in crawl.jsonl, such as queries.
func (g Guard) String() string { return guardNames[g] }

// LeftOut counts the URLs that each Guard omitted, indexed by the Guard.
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

// Reasons for the exclusion of a URL by a guard.
const (
	reasonURLBytes  = "the URL is too long"
	reasonRepeats   = "a segment repeats too often in the path"
	reasonQueries   = "too many queries for one path"
	reasonChained   = "too many queries for one path in a long chain of links"
	reasonDeepPaths = "too many deep paths on one host"
)

// guardOf returns the guard with the given reason. The result ok reports
// whether a guard has this reason.
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
	chainStart = 50      // links between queries of one path before Limits.Chained applies
	deepPath   = 20      // segments of a path before Limits.DeepPaths applies
	maxCounted = 1 << 20 // hashes in a valueCounter
)

// valueCounter counts the distinct values of keys, such as the queries of a
// path. It is not safe for concurrent use.
type valueCounter struct {
	values map[string]map[uint64]struct{} // hashes of the values
	count  int                            // hashes of all keys
}

// admit reports whether value is one of the first limit distinct values of key.
// If it has counted too many values of all keys, it starts again from zero.
func (c *valueCounter) admit(key string, value uint64, limit int64) bool {
	seen := c.values[key]
	if _, ok := seen[value]; ok {
		return true
	}
	if int64(len(seen)) >= limit {
		return false
	}
	if c.count >= maxCounted {
		clear(c.values)
		c.count, seen = 0, nil
	}
	if seen == nil {
		seen = map[uint64]struct{}{}
		c.values[key] = seen
	}
	seen[value] = struct{}{}
	c.count++
	return true
}
