package warc

import (
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
	for host, want := range map[string]string{"B\u00fccher.example": "xn--bcher-kva.example", "b%C3%BCcher.example": "xn--bcher-kva.example", "under_score.example": "under_score.example", "%C2%80.example": "-"} {
		got, ok := normalizeDomain(host)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
