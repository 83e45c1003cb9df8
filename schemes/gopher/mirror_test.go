package gopher

import (
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestMirrorPlace checks that the place of an item does not contain its type.
func TestMirrorPlace(t *testing.T) {
	for url, want := range map[string]string{
		"gopher://h/1/a/b":      "gopher://h/a/b",
		"gopher://h/0a/b":       "gopher://h/a/b",
		"gopher://h/1//a":       "gopher://h//a",
		"gopher://h/1":          "gopher://h/",
		"gopher://h/":           "gopher://h/",
		"gopher://h":            "gopher://h",
		"gopher://h/7/find?x":   "gopher://h/find?x",
		"gopher://h/0/a%09%09!": "gopher://h/a%09%09!",
	} {
		if got := mirrorPlace(uri.MustParse(url)).String(); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}
