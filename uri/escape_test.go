package uri

import (
	"errors"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct {
		in   string
		keep Set
		want string
	}{
		{"", Unreserved, ""},
		{"aZ09-._~", Unreserved, "aZ09-._~"},
		{"a b", Segment, "a%20b"},
		{"100%", FragmentChars, "100%25"}, // no set keeps it
		{"%41", Path, "%2541"},
		{"a/b;c:d@e?f#g", Segment, "a%2Fb;c:d@e%3Ff%23g"},
		{"a/b;c:d@e?f#g", Path, "a/b;c:d@e%3Ff%23g"},
		{"a/b;c:d@e?f#g", QueryChars, "a/b;c:d@e?f%23g"},
		{"a:b@c", UserinfoChars, "a:b%40c"},
		{"a:b@c", RegNameChars, "a%3Ab%40c"},
		{"a:b@c", SegmentNoColon, "a%3Ab@c"},
		{"a&b=c", QueryChars &^ SubDelims, "a%26b%3Dc"},
		{"é\r\n\x00\xff", Path, "%C3%A9%0D%0A%00%FF"},
		{"[]", QueryChars, "%5B%5D"},
	} {
		got := Escape(c.in, c.keep)
		if got != c.want {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
		if back, err := Unescape(got); err != nil || back != c.in {
			t.Errorf("Unescape(%q) = %q, %v, want %q", got, back, err, c.in)
		}
	}
	if n := testing.AllocsPerRun(10, func() { Escape("plain", Path) }); n != 0 {
		t.Errorf("Escape of a string without special characters: %v allocations, want 0", n)
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"":             "",
		"a+b":          "a+b",
		"%2b%2B":       "++",
		"%00%0d%0A%fF": "\x00\r\n\xff",
		"%2541":        "%41", // once
		"é b[":         "é b[",
	} {
		if got, err := Unescape(in); err != nil || got != want {
			t.Errorf("Unescape(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for in, offset := range map[string]int{
		"%": 0, "secret%": 6, "%4": 0, "%41%4": 3, "%g0": 0, "%0g": 0, "%%41": 0, "%+1": 0, "a%u0041": 1,
	} {
		got, err := Unescape(in)
		var e *Error
		if !errors.As(err, &e) || e.Offset != offset || got != "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("Unescape(%q) = %q, %v, want an error at byte %d", in, got, err, offset)
		}
	}
}

// TestSets compares each set with its rule in RFC 3986, for every byte.
func TestSets(t *testing.T) {
	const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
	const regName = unreserved + "!$&'()*+,;="
	for set, want := range map[Set]string{
		Unreserved:   unreserved,
		SubDelims:    "!$&'()*+,;=",
		RegNameChars: regName, UserinfoChars: regName + ":", SegmentNoColon: regName + "@",
		Segment: regName + ":@", Path: regName + ":@/", QueryChars: regName + ":@/?",
		schemeChars: unreserved[:62] + "+-.", hexDigit: "0123456789abcdefABCDEF",
	} {
		for c := range 256 {
			if got := set.Has(byte(c)); got != (strings.IndexByte(want, byte(c)) >= 0) {
				t.Errorf("set of %q has %q: %v", want, byte(c), got)
			}
		}
	}
}
