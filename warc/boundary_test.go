package warc

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/uri"
)

// TestIsDamage checks each problem.
func TestIsDamage(t *testing.T) {
	for p := TruncatedFile; p <= BadPart; p++ {
		want := p != MissingField && p != BadField && p != DuplicateID && p != DanglingReference && p != BadPart
		if p.IsDamage() != want {
			t.Errorf("%s: %t", p, !want)
		}
	}
	if Problem(0).IsDamage() {
		t.Error("the zero Problem is damage")
	}
}

// TestYears checks the first and the last year of a record.
func TestYears(t *testing.T) {
	for year, ok := range map[int]bool{-1: false, 0: true, 9999: true, 10000: false} {
		r := &Record{Type: Resource}
		r.URL, r.Date = uri.MustParse("http://h/"), time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := r.validate(); (err == nil) != ok {
			t.Errorf("year %d: %v", year, err)
		}
	}
}

// TestSizeOfUTF8 checks the first byte of each size.
func TestSizeOfUTF8(t *testing.T) {
	for b, want := range map[byte]int{0x7f: 1, 0x80: 1, 0xbf: 1, 0xc0: 2, 0xdf: 2, 0xe0: 3, 0xef: 3, 0xf0: 4, 0xff: 4} {
		if got := sizeOfUTF8(b); got != want {
			t.Errorf("%#x: %d, want %d", b, got, want)
		}
	}
}

// TestCutSimple checks strings that need no JSON decoder.
func TestCutSimple(t *testing.T) {
	for text, want := range map[string]string{`"a b"c`: "a b", `""`: "", `"\\"`: "-", `"a\u0041"`: "-", "\"\x1f\"": "-", "\" \"": " ", "\"\x7f\"": "\x7f", "\"\u0080\"": "-", `"a`: "-", `a"`: "-"} {
		value, _, ok := cutSimple(text)
		if !ok {
			value = "-"
		}
		if value != want {
			t.Errorf("%s: %q, want %q", text, value, want)
		}
	}
}

// TestNormalizeDomain checks hosts with characters that are not ASCII. U+0080 is
// the first of them.
func TestNormalizeDomain(t *testing.T) {
	for host, want := range map[string]string{"B\u00fccher.example": "xn--bcher-kva.example", "b%C3%BCcher.example": "xn--bcher-kva.example", "under_score.example": "under_score.example", "%C2%80.example": "-",
		strings.Repeat("a", maxHost): strings.Repeat("a", maxHost), strings.Repeat("a", maxHost+1): "-"} {
		got, ok := normalizeDomain(host)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

// TestLineSize checks that each string of a line counts.
func TestLineSize(t *testing.T) {
	for name, l := range map[string]Line{
		"key": {Key: "1234567"}, "timestamp": {Timestamp: "1234567"}, "URL": {URL: "1234567"}, "media type": {Media: "1234567"},
		"status": {Status: "1234567"}, "digest": {Digest: "1234567"}, "file": {File: "1234567"},
	} {
		if n := l.size(); n != 7 {
			t.Errorf("%s: %d bytes, want 7", name, n)
		}
	}
}

// TestAllowReread checks the limit for bytes that are read again. They also count
// as processed.
func TestAllowReread(t *testing.T) {
	for _, tc := range []struct {
		name         string
		once, reread int64 // bytes processed so far
		want         bool
	}{
		{"nothing", 0, 0, true},
		{"the minimum", 0, minReread, true},
		{"more than the minimum", 0, minReread + 1, false},
		{"as much as a file permits", 100, minReread + 100*rereadFactor, true},
		{"more than a file permits", 100, minReread + 100*rereadFactor + 1, false},
	} {
		s := &source{processed: tc.once + tc.reread, reread: tc.reread}
		if got := s.allowReread(10); got != tc.want || s.exhausted == tc.want || tc.want != (s.reread == tc.reread+10) {
			t.Errorf("%s: %v, %d bytes read again", tc.name, got, s.reread)
		}
		if s.processed += 1 << 40; s.allowReread(0) != tc.want {
			t.Errorf("%s: the result has changed", tc.name)
		}
	}
}

// TestEscape checks the bytes next to those that are always escaped.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{"a\x1f": "a%1F", "a !": "a !", "a!~": "a!~", "a\x7f": "a%7F", "a\u0080": "a%C2%80", "a#": "a%23"} {
		if got := escape(text, "#"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
