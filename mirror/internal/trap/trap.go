// Package trap recognizes sites with an unlimited number of URLs.
package trap

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// maxCounted is the maximum number of hashes in a Counter.
const maxCounted = 1 << 20

// A Counter counts the distinct values of a key. For example, the key is
// the path of a URL and the values are its queries. A Counter is not safe
// for concurrent use. Its zero value is empty.
type Counter struct {
	values map[string]map[uint64]struct{} // hashes of the values of each key
	count  int                            // number of hashes of all keys
}

// Admit counts a value of key. It returns false, without counting the value, if
// limit other values of key were counted. After maxCounted values of all keys,
// all counts start again from zero.
func (c *Counter) Admit(key string, value uint64, limit int64) bool {
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
	if c.values == nil {
		c.values = map[string]map[uint64]struct{}{}
	}
	if seen == nil {
		seen = map[uint64]struct{}{}
		c.values[key] = seen
	}
	seen[value] = struct{}{}
	c.count++
	return true
}

// PathShape returns the number of segments in the path of u, and the number of
// occurrences of the most frequent segment.
func PathShape(u uri.URI) (segments int, repeats int64) {
	seen := map[string]int64{}
	for segment := range strings.SplitSeq(u.Path(), "/") {
		if segment == "" {
			continue
		}
		segments++
		seen[segment]++
		repeats = max(repeats, seen[segment])
	}
	return segments, repeats
}

// PathPattern removes the query from a URL and replaces each part of its path
// that contains a digit by "0". A part consists of letters, digits, ".", "_" and
// "-", such as "2026-11-22". URLs with the same pattern are similar.
func PathPattern(text string) string {
	text, _, _ = strings.Cut(text, "?")
	start := 0 // offset of the path
	if i := strings.Index(text, "://"); i >= 0 {
		start = i + 3
		if path := strings.IndexByte(text[start:], '/'); path >= 0 {
			start += path
		} else {
			start = len(text)
		}
	}
	pattern := []byte(text[:start])
	part, hasDigit := start, false // start of the current part in pattern
	for i := start; i < len(text); i++ {
		b := text[i]
		switch {
		case '0' <= b && b <= '9':
			pattern, hasDigit = append(pattern[:part], '0'), true
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', b == '.', b == '_', b == '-':
			if !hasDigit {
				pattern = append(pattern, b)
			}
		default:
			pattern = append(pattern, b)
			part, hasDigit = len(pattern), false
		}
	}
	return string(pattern)
}
