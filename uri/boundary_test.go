package uri

import (
	"errors"
	"testing"
)

// TestExtractBoundaries tests texts that differ by one character from texts with
// a URI. The wanted URI is "" if there is none.
func TestExtractBoundaries(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty userinfo", "http://@host.example/", ""},
		{"host starts with a dot", "http://.host.example/", ""},
		{"mark of emphasis at the end of the host", "_http://host.example_", "http://host.example_"},
		{"path of letters that end with the byte 0x80", "http://host.example/一二", "http://host.example/%E4%B8%80%E4%BA%8C"},
		{"mail address without a local part", "mailto:@host.example", ""},
		{"mail address", "mailto:a@host.example", "mailto:a@host.example"},
		{"root without an authority", "file:/ x", ""},
		{"root", "file:/// x", "file:///"},
	} {
		got := ""
		for m := range Extract(c.text) {
			got += m.URI.Unredacted()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestGuessBoundaries tests logins without a user, and hosts whose UTF-8 form has
// bytes from 0x80 to 0x8F.
func TestGuessBoundaries(t *testing.T) {
	for _, c := range []struct {
		text, want string
		offset     int // of the error, or -1
	}{
		{"@host.example", "", 0},
		{"http/@host.example/", "", 4},
		{"%C5%80.example", "http://%C5%80.example", -1},
	} {
		u, _, err := Guess(c.text, "http")
		offset := -1
		if e := (*Error)(nil); errors.As(err, &e) {
			offset = e.Offset
		}
		if u.Unredacted() != c.want || offset != c.offset {
			t.Errorf("%q: %q, %v at %d; want %q, %d", c.text, u.Unredacted(), err, offset, c.want, c.offset)
		}
	}
}

// TestBoundaries tests the first and the last character of ranges.
func TestBoundaries(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"byte 0x80", EscapeNonASCII("a\x80"), "a%80"},
		{"first letter", MustParse("http://A/").Normalize(Syntax).String(), "http://a/"},
		{"last letter", MustParse("http://Z/").Normalize(Syntax).String(), "http://z/"},
		{"after the last production", Production(len(productions)).String(), "unknown"},
		{"a before the name of a secret", Redact("http://h/?asig=1"), "http://h/?asig=1"},
		{"z before the name of a secret", Redact("http://h/?zsig=1"), "http://h/?zsig=1"},
		{"0 before the name of a secret", Redact("http://h/?0sig=1"), "http://h/?0sig=1"},
		{"9 before the name of a secret", Redact("http://h/?9sig=1"), "http://h/?9sig=1"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct {
		in, reason string
		offset     int
	}{
		{"http://h/\x80", "byte outside ASCII in path", 9},
		{"http://[fe80::1%25]/", "malformed zone identifier", 15},
		{"http://[fe80::1%25/]/", "malformed zone identifier", 15},
	} {
		_, err := ParseZone(c.in)
		var e *Error
		if !errors.As(err, &e) || e.Offset != c.offset || e.Reason != c.reason {
			t.Errorf("%q: %v, want %s at %d", c.in, err, c.reason, c.offset)
		}
	}
}
