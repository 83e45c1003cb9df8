package gateway

import (
	"strings"
	"testing"
)

// FuzzParseLive checks that a request target of a live page and its parsed form
// have the same meaning: formatting and parsing again changes nothing.
func FuzzParseLive(f *testing.F) {
	for _, s := range []string{
		"/gopher://h/1/", ";sort=-size;page=2;via=l-_x/ftp://h/a;type=i", ";part=1.2;inline/news:a@b", ";/x:", "/http://h/?q=;via=x", ";via=/x:", ";via=a;via=b/x:y#z",
		";page=0/x:", ";page=1/x:", ";page=99999999999/x:", ";sort=x/x:", "/", "", "/é:", "/http://h/é%zz", "/[::1%25lo]/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		if rest != "" && rest[0] != ';' && rest[0] != '/' {
			return // another route
		}
		a, ok, err := parseLive(false, rest)
		if !ok || err != nil {
			return
		}
		path := a.path("/base", a.via)
		text, found := strings.CutPrefix(path, "/base/live")
		b, ok, err := parseLive(false, text)
		if !found || !ok || err != nil || a != b {
			t.Errorf("%q: got %v, then %q: %v, %v, %v", rest, a, path, b, ok, err)
		}
		if strings.ContainsAny(path, "\r\n \"<>\\") {
			t.Errorf("%q: the path %q has special characters", rest, path)
		}
	})
}
