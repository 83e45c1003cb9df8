package uri

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// validRows returns the test inputs that are valid for this package and for
// net/url.
func validRows(b *testing.B) (list []string) {
	for _, r := range rows(b, "rfc3986.jsonl") {
		if _, err := ParseReference(r.Input); r.Kind != "valid" || err != nil {
			continue
		}
		if _, err := url.Parse(r.Input); err == nil {
			list = append(list, r.Input)
		}
	}
	return list
}

// BenchmarkParse parses one valid input per operation. The metric x-net/url is
// the speed relative to url.Parse, measured in the same run.
func BenchmarkParse(b *testing.B) {
	list := validRows(b)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseReference(list[n%len(list)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	ours := b.Elapsed()
	start := time.Now()
	for i := range n {
		if _, err := url.Parse(list[i%len(list)]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Since(start))/float64(ours), "x-net/url")
}

// BenchmarkDots parses, resolves and normalizes a path with a million "../"
// segments.
func BenchmarkDots(b *testing.B) {
	base := MustParse("http://a/b/c/d")
	path := strings.Repeat("../", 1_000_000) + "g"
	for b.Loop() {
		ref, err := ParseReference(path)
		if err != nil {
			b.Fatal(err)
		}
		u, err := base.Resolve(ref)
		if err != nil {
			b.Fatal(err)
		}
		MustParse("http://h/" + path).Normalize(ByScheme)
		Relativize(u, base)
	}
}

func BenchmarkResolve(b *testing.B) {
	base, ref := MustParse("http://a/b/c/d;p?q"), MustParse("../g?y#s")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := base.Resolve(ref); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNormalize(b *testing.B) {
	u := MustParse("eXAMPLE://a/./b/../b/%63/%7bfoo%7d")
	b.ReportAllocs()
	for b.Loop() {
		u.Normalize(Syntax)
	}
}

// BenchmarkExtract searches prose with a URI in every second line.
func BenchmarkExtract(b *testing.B) {
	text := strings.Repeat("Yes, Jim: I found it under \"http://www.w3.org/Addressing/\",\n"+
		"but you can probably pick it up elsewhere, as the notes say. They have it all.\n", 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range Extract(text) {
			n++
		}
		if n != 100 {
			b.Fatal(n)
		}
	}
}
