package uri

import (
	"cmp"
	"slices"
	"strings"
)

// Relativize returns the shortest relative reference that [URI.Resolve]
// resolves against base to target. It returns target itself if there is no such
// reference. Examples are URIs with different schemes, and a path with dot
// segments, which Resolve would remove.
func Relativize(base, target URI) URI {
	if base.scheme == 0 || base.s[:base.scheme] != target.s[:target.scheme] {
		return target
	}
	candidates := relativeCandidates(base, target)
	slices.SortStableFunc(candidates, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for _, c := range candidates {
		ref, err := parse(c, true)
		if err != nil || ref.scheme != 0 {
			continue
		}
		if got, err := base.Resolve(ref); err == nil && got.s == target.s {
			return ref
		}
	}
	return target
}

// relativeCandidates returns relative references that may resolve against base
// to target. The caller must check each one.
func relativeCandidates(base, target URI) []string {
	fragment := target.s[target.fragment:]
	query := target.s[target.query:]
	var list []string
	if a, ok := base.Authority(); sameAuthority(a, ok, target) {
		if base.Path() == target.Path() {
			list = append(list, fragment, query)
		}
		up, down := relativePath(base.Path(), target.Path())
		r := strings.Repeat("../", up) + down + query
		list = append(list, r, "./"+r, target.s[target.path:])
	}
	return append(list, target.s[target.scheme+1:])
}

func sameAuthority(a string, ok bool, u URI) bool {
	b, has := u.Authority()
	return a == b && ok == has
}

// relativePath computes the relative path from base to target. It returns the
// number of "../" segments, and the path after them.
func relativePath(base, target string) (up int, down string) {
	common := 0
	for i := 0; i < len(base) && i < len(target) && base[i] == target[i]; i++ {
		if base[i] == '/' {
			common = i + 1
		}
	}
	return strings.Count(base[common:], "/"), target[common:]
}
