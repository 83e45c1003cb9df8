package uri

import (
	"cmp"
	"slices"
	"strings"
)

// Relativize returns a relative reference that resolves, against base, to exactly
// the bytes of target, and of the plain ones that do so the shortest. It returns
// target itself when there is none: the schemes are not the same bytes, base has
// no scheme, or the path of target has dot segments, which resolving removes.
func Relativize(base, target URI) URI {
	if base.scheme == 0 || base.s[:base.scheme] != target.s[:target.scheme] {
		return target
	}
	candidates := relatives(base, target)
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

// relatives lists the references that may do, the plainest first.
func relatives(base, target URI) []string {
	fragment := target.s[target.fragment:]
	query := target.s[target.query:]
	var list []string
	if a, ok := base.Authority(); sameAuthority(a, ok, target) {
		if base.Path() == target.Path() {
			list = append(list, fragment, query)
		}
		up, down := climb(base.Path(), target.Path())
		r := strings.Repeat("../", up) + down + query
		list = append(list, r, "./"+r, target.s[target.path:])
	}
	return append(list, target.s[target.scheme+1:])
}

func sameAuthority(a string, ok bool, u URI) bool {
	b, has := u.Authority()
	return a == b && ok == has
}

// climb returns how many levels to go up from the path base and what to go down
// from there to reach the path target.
func climb(base, target string) (up int, down string) {
	common := 0
	for i := 0; i < len(base) && i < len(target) && base[i] == target[i]; i++ {
		if base[i] == '/' {
			common = i + 1
		}
	}
	return strings.Count(base[common:], "/"), target[common:]
}
