package mirror

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPrefixSet compares a prefixSet with a list of its prefixes.
func TestPrefixSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = "ab/"[r.IntN(3)]
		}
		return string(b)
	}
	found := 0
	for range 1000 {
		var s prefixSet
		var list []string
		for range r.IntN(4) {
			p := text()
			s.add(p)
			list = append(list, p)
		}
		for range 20 {
			u := text()
			want := slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(u, p) })
			if got := s.covers(u); got != want {
				t.Fatalf("covers(%q) of %q = %v", u, list, got)
			}
			if got := s.has(u); got != slices.Contains(list, u) {
				t.Fatalf("has(%q) of %q = %v", u, list, got)
			}
			if want {
				found++
			}
		}
	}
	if found < 1000 || found > 19_000 {
		t.Errorf("%d of 20,000 texts have a prefix; the test needs both results", found)
	}
}

// BenchmarkPrefixSet looks up a URL among 100,000 prefixes.
func BenchmarkPrefixSet(b *testing.B) {
	var s prefixSet
	for n := range 100_000 {
		s.add("http://www.example.org/" + strings.Repeat("x", n%50) + "/" + string(rune('a'+n%26)) + "/")
	}
	for b.Loop() {
		s.covers("http://www.example.net/a/path/of/usual/length.html")
	}
}
