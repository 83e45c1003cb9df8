package mirror

import (
	"slices"
	"strings"
)

// A prefixSet contains prefixes of URLs. The time of a lookup does not depend on
// the number of prefixes that end with a slash. The zero value is empty.
type prefixSet struct {
	folders map[string]bool // prefixes that end with a slash
	others  map[string]bool
	lengths []int // lengths of the prefixes in others, without duplicates
	longest int   // length of the longest prefix in folders
}

func (s *prefixSet) add(prefix string) {
	if s.folders == nil {
		s.folders, s.others = map[string]bool{}, map[string]bool{}
	}
	if strings.HasSuffix(prefix, "/") {
		s.folders[prefix] = true
		s.longest = max(s.longest, len(prefix))
		return
	}
	s.others[prefix] = true
	if !slices.Contains(s.lengths, len(prefix)) {
		s.lengths = append(s.lengths, len(prefix))
	}
}

// has reports whether the set contains the prefix.
func (s *prefixSet) has(prefix string) bool { return s.folders[prefix] || s.others[prefix] }

// covers reports whether text starts with a prefix of the set.
func (s *prefixSet) covers(text string) bool {
	for i := range min(len(text), s.longest) {
		if text[i] == '/' && s.folders[text[:i+1]] {
			return true
		}
	}
	return slices.ContainsFunc(s.lengths, func(n int) bool { return n <= len(text) && s.others[text[:n]] })
}
