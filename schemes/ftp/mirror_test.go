package ftp

import (
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestBelow checks which URLs name a directory by ";type=d".
func TestBelow(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://h/a/b;type=d": "ftp://h/a/b/",
		"ftp://h/;type=d":    "ftp://h/",
		"ftp://h/a/;type=d":  "ftp://h/a/",
		"ftp://h/a/b;type=i": "",
		"ftp://h/a/":         "",
	} {
		got, ok := below(uri.MustParse(url))
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: got %s, %t, want %q", url, got, ok, want)
		}
	}
}
