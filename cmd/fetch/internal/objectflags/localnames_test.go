package objectflags

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestLocalNames checks the names of files for the flags that select them.
func TestLocalNames(t *testing.T) {
	all := nameFlags{directories: true}
	verbatim := nameFlags{verbatim: true}
	for _, c := range []struct {
		oddity string
		flags  nameFlags
		url    string
		want   string // "" for an error
	}{
		{"default", nameFlags{}, "http://h/a/b%20c", "b%20c"},
		{"directories", all, "http://h.example/a/b/c.txt", "h.example/a/b/c.txt"},
		{"port", all, "ftp://h:2121/c", "h+2121/c"},
		{"IPv6", all, "http://[::1]:80/c", "%3A%3A1+80/c"},
		{"directory", all, "http://h/a/", "h/a/index.html"},
		{"no path", all, "http://h", "h/index.html"},
		{"empty segments", all, "http://h//a//b", "h/a/b"},
		{"dot segments", all, "http://h/../a/%2e%2e/b", "h/%2E%2E/a/%2E%2E/b"},
		{"encoded slash", all, "http://h/a%2F..%2Fb", "h/a%2F..%2Fb"},
		{"user", all, "ftp://u:p@h/a", "h/a"},
		{"no host", nameFlags{noHost: true}, "http://h/a/b", "a/b"},
		{"fewer directories", nameFlags{cutDirs: 1}, "http://h/a/b/c", "h/b/c"},
		{"more than the path has", nameFlags{cutDirs: 9, noHost: true}, "http://h/a/b/c", "c"},
		{"negative", nameFlags{cutDirs: -1}, "http://h/a/b/c", ""},
		{"verbatim", verbatim, "http://h/name%20with%20%5Bspace%5D.txt", "name with [space].txt"},
		{"verbatim, leading dot and hyphen", nameFlags{verbatim: true, directories: true}, "http://h/.a/-b", "h/.a/-b"},
		{"verbatim, other characters", verbatim, "http://h/%C3%A9%3A*%22", `é:*"`},
		{"verbatim, slash", verbatim, "http://h/..%2Fa", "%2E.%2Fa"},
		{"verbatim, parent", verbatim, "http://h/%2e%2e", "%2E%2E"},
		{"verbatim, control character", verbatim, "http://h/a%1B%5B2J", "a%1B%5B2J"},
		{"verbatim, bytes that are no UTF-8", verbatim, "http://h/a%FF", "a%FF"},
		{"verbatim, right-to-left override", verbatim, "http://h/a%E2%80%AEb", "a%E2%80%AEb"},
		{"verbatim, partial file", verbatim, "http://h/.a.part", "%2Ea.part"},
		{"no name", nameFlags{}, "http://h/", ""},
	} {
		if runtime.GOOS == "windows" && c.flags.verbatim {
			continue
		}
		u := uri.MustParse(c.url)
		got, err := "", c.flags.validate()
		if err == nil {
			got, err = c.flags.of(u)
		}
		if filepath.ToSlash(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.oddity, got, err, c.want)
		}
	}
}
