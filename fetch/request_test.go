package fetch

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestSecretMask(t *testing.T) {
	c := Credential{User: "u", Password: "pw"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		if got, want := fmt.Sprintf(verb, c.Password), "***"; got != want {
			t.Errorf("%s: got %s, want %s", verb, got, want)
		}
	}
	if got, err := json.Marshal(c.Password); err != nil || string(got) != `"***"` {
		t.Errorf("got %s, %v", got, err)
	}
	if c.Password.Reveal() != "pw" || Secret("").String() != "" {
		t.Error("a secret is not its text")
	}
}

func TestRangeBounds(t *testing.T) {
	for _, c := range []struct {
		r          Range
		size       int64
		first, end int64
		ok         bool
	}{
		{Range{}, 10, 0, 10, true},
		{Range{}, 0, 0, 0, true},
		{Range{2, 4}, 10, 2, 4, true},
		{Range{2, 40}, 10, 2, 10, true},
		{Range{2, 0}, 10, 2, 10, true},
		{Range{-3, 0}, 10, 7, 10, true},
		{Range{-30, 0}, 10, 0, 10, true},
		{Range{10, 0}, 10, 10, 10, false},
		{Range{11, 0}, 10, 11, 10, false},
	} {
		if first, end, ok := c.r.Bounds(c.size); first != c.first || end != c.end || ok != c.ok {
			t.Errorf("%v of %d: got %d, %d, %v", c.r, c.size, first, end, ok)
		}
	}
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{ // want "" means an error
		"http://h/a?b[]=1&c={2}": "http://h/a?b%5B%5D=1&c=%7B2%7D",
		" <http://h/100%> ":      "http://h/100%25",
		"http://h/%41 b":         "http://h/%41%20b",
		"url:x":                  "url:x", // a valid URL with the scheme url
		"http://h h/":            "",
		"http://h/a b\r\nc":      "",
		"h/a b":                  "",
		"":                       "",
	} {
		u, err := ParseURL(text)
		if u.Unredacted() != want || (err != nil) != (want == "") || err != nil && FaultOf(err) != BadURL {
			t.Errorf("ParseURL(%q) = %q, %v, want %q", text, u, err, want)
		}
	}
}
