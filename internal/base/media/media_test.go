package media

import (
	"mime"
	"strings"
	"testing"
)

func TestTypeOf(t *testing.T) {
	long := strings.Repeat("x", SniffLen-1)
	for _, c := range []struct{ name, prefix, want string }{
		{"a.txt", "", "text/plain"},
		{"A.HTML", "", "text/html"},
		{"fetch.tar.gz", "", "application/gzip"},
		{"dir.d/README", "hello\n", "text/plain; charset=utf-8"},
		{".txt", "", ""},          // hidden file without an extension
		{"a/.profile", "", ""},    // hidden file in a folder
		{"a.", "", ""},            // empty extension
		{"a.unheardof", "", ""},   // unknown extension and no content
		{"x", "", ""},             // no extension and no content
		{"x", "\x00\x01\x02", ""}, // unknown binary content
		{"x", "GIF89a", "image/gif"},
		{"x", "<!DOCTYPE html><p>", "text/html; charset=utf-8"},
		{"x", "caf\xe9 cr\xe8me", "text/plain"},                        // Latin-1
		{"x", long + "\xe9", "text/plain; charset=utf-8"},              // incomplete UTF-8 at the end of the prefix
		{"x", long[1:] + "\xff\xff", "text/plain"},                     // invalid UTF-8 at the end of the prefix
		{"x", "caf\xe9", "text/plain"},                                 // invalid UTF-8 at the end of a short object
		{"x", "\xe6\xbc\xa2\xe5\xad\x97", "text/plain; charset=utf-8"}, // complete characters
		{"x." + strings.Repeat("y", 1<<20), "%PDF-1.4", "application/pdf"},
	} {
		if got := TypeOf(c.name, []byte(c.prefix)); got != c.want {
			t.Errorf("TypeOf(%.40q, %.40q) = %q, want %q", c.name, c.prefix, got, c.want)
		}
	}
}

// TestTable verifies that every media type is valid in a Content-Type field.
func TestTable(t *testing.T) {
	for ext, media := range byExtension {
		if got, params, err := mime.ParseMediaType(media); err != nil || got != media || len(params) > 0 {
			t.Errorf("%s: %q does not parse: %v", ext, media, err)
		}
		if ext != strings.ToLower(ext) {
			t.Errorf("%s: must be in lower case", ext)
		}
	}
}

// TestTrimParameters covers media types with parameters and texts that are not
// media types.
func TestTrimParameters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"text/html":                "text/html",
		"Text/HTML; charset=utf-8": "text/html",
		" text/html ; a=b":         "text/html",
		"text/html; charset":       "text/html",
		"Text/HTML; a=b; a=c":      "text/html", // package mime rejects repeated parameters
		"a/b/c; d=e":               "a/b/c",
		" Nonsense ":               "nonsense",
		"a/b/c":                    "a/b/c",
	} {
		if got := TrimParameters(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
