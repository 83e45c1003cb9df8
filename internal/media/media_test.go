package media

import (
	"mime"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	long := strings.Repeat("x", SniffLen-1)
	for _, c := range []struct{ name, prefix, want string }{
		{"a.txt", "", "text/plain"},
		{"A.HTML", "", "text/html"},
		{"fetch.tar.gz", "", "application/gzip"},
		{"dir.d/README", "hello\n", "text/plain; charset=utf-8"},
		{".txt", "", ""},          // a hidden file without extension
		{"a/.profile", "", ""},    // the same in a folder
		{"a.", "", ""},            // no extension either
		{"a.unheardof", "", ""},   // unknown, and nothing to look at
		{"x", "", ""},             // empty
		{"x", "\x00\x01\x02", ""}, // binary: nobody knows
		{"x", "GIF89a", "image/gif"},
		{"x", "<!DOCTYPE html><p>", "text/html; charset=utf-8"},
		{"x", "caf\xe9 cr\xe8me", "text/plain"},                        // Latin-1
		{"x", long + "\xe9", "text/plain; charset=utf-8"},              // UTF-8 that the end cuts
		{"x", long[1:] + "\xff\xff", "text/plain"},                     // not a cut character
		{"x", "caf\xe9", "text/plain"},                                 // whole, so nothing is cut
		{"x", "\xe6\xbc\xa2\xe5\xad\x97", "text/plain; charset=utf-8"}, // whole characters
		{"x." + strings.Repeat("y", 1<<20), "%PDF-1.4", "application/pdf"},
	} {
		if got := TypeOf(c.name, []byte(c.prefix)); got != c.want {
			t.Errorf("TypeOf(%.40q, %.40q) = %q, want %q", c.name, c.prefix, got, c.want)
		}
	}
}

// TestTable: every type is one that an http header could hold.
func TestTable(t *testing.T) {
	for ext, media := range byExtension {
		if got, params, err := mime.ParseMediaType(media); err != nil || got != media || len(params) > 0 {
			t.Errorf("%s: %q does not parse: %v", ext, media, err)
		}
		if ext != strings.ToLower(ext) {
			t.Errorf("%s: never found, as extensions are looked up in lower case", ext)
		}
	}
}

// TestBase checks media types with parameters, and texts that are none.
func TestBase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"text/html":                "text/html",
		"Text/HTML; charset=utf-8": "text/html",
		" text/html ; a=b":         "text/html",
		"text/html; charset":       "text/html",
		" Nonsense ":               "nonsense",
		"a/b/c":                    "a/b/c",
	} {
		if got := TrimParameters(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
