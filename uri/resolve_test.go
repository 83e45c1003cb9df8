package uri

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/cputime"
)

func TestResolve(t *testing.T) {
	for _, c := range []struct{ base, ref, want, draft2003, draft1997 string }{
		// Where a draft has nothing, it agrees with the RFC.
		{"http://a/b/c/d;p?q", "../../../g", "http://a/g", "http://a/../g", "http://a/../g"},
		{"http://a/b/c/d;p?q", "/./g", "http://a/g", "http://a/./g", "http://a/./g"},
		{"http://a/b/c/d;p?q", "//x/../g", "http://x/g", "http://x/../g", "http://x/../g"},
		{"http://a/b/c/d;p?q", "x:/../g", "x:/g", "x:/../g", "x:/../g"},
		{"http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y", "", "http://a/b/c/?y"},
		{"http://a/b/c/d;p?q", "?a/../b", "http://a/b/c/d;p?a/../b", "", "http://a/b/c/b"},
		{"http://a/b/c/d;p?q", "g?y/../x", "http://a/b/c/g?y/../x", "", "http://a/b/c/x"},
		{"http://a/b/c/d;p?q", "?", "http://a/b/c/d;p?", "", "http://a/b/c/?"},
		{"http://a/b/c/d;p?q", "#", "http://a/b/c/d;p?q#", "", ""},
		{"http://a/b/c/d;p?q#f", "", "http://a/b/c/d;p?q", "", ""},
		{"http://a/b/../c", "", "http://a/b/../c", "", ""},
		{"http://a/b/../c", "d", "http://a/d", "", ""},
		{"http://a/b", "c//../../d", "http://a/d", "", ""},
		{"http://a/b", "c//../../../d", "http://a/d", "http://a/../d", "http://a/../d"},
		{"http://a//b", "../c", "http://a/c", "", ""},
		{"http://a", "g", "http://a/g", "", ""}, // never http://ag
		{"http://a", "?g", "http://a?g", "", "http://a/?g"},
		{"http://a", "..", "http://a/", "http://a/..", "http://a/.."},
		{"foo:", "g", "foo:g", "foo:/g", ""},
		{"foo:a", "..", "foo:", "foo:..", "foo:.."},
		{"foo:a/b", "../..", "foo:/", "foo:..", "foo:.."},
		{"foo:a/b", "../x:y", "foo:/x:y", "foo:x:y", "foo:x:y"},
		{"HTTP://a/b", "c", "HTTP://a/c", "", ""},
		{"HTTP://a/b", "http:c", "http:c", "", ""},
		{"http://u:p@h:8/a", "b", "http://u:p@h:8/b", "", ""},
		{"http://u:p@h:8/a", "//h/b", "http://h/b", "", ""},
		{"file:///a", "//", "file://", "", ""},
		// A path never becomes an authority.
		{"a:/b", "/.//c", "a:/.//c", "", ""},
		{"a:/b/c", "..//d", "a:/.//d", "", ""},
		{"a:/b", "c:/x/..//d", "c:/.//d", "c:/x/..//d", "c:/x/..//d"},
		{"a:b/c", "..//d", "a:/.//d", "a:/d", "a:/d"},
		{"a://h/b", "/..//d", "a://h//d", "a://h/..//d", "a://h/..//d"},
	} {
		for mode, want := range map[Mode]string{RFC3986: c.want, Draft2003: c.draft2003, Draft1997: c.draft1997} {
			if want == "" {
				want = c.want
			}
			got, err := mode.Resolve(MustParse(c.base), MustParse(c.ref))
			if err != nil || got.Unredacted() != want {
				t.Errorf("%v: %q against %q is %q (%v), want %q", mode, c.ref, c.base, got.Unredacted(), err, want)
			}
		}
	}
}

func TestResolveRejects(t *testing.T) {
	base := MustParse("http://a/")
	for _, c := range []struct{ base, ref URI }{
		{MustParse("//a/b"), MustParse("c")},
		{URI{}, base},
		{base, URI{}},
	} {
		if got, err := c.base.Resolve(c.ref); err == nil || !got.IsZero() {
			t.Errorf("%#v against %#v is %#v", c.ref, c.base, got)
		}
	}
}

func TestEnumStrings(t *testing.T) {
	for _, c := range []struct {
		got  fmt.Stringer
		want string
	}{
		{RFC3986, "RFC 3986"}, {Draft2003, "draft of 2003"}, {Draft1997, "draft of 1997"}, {Mode(9), "unknown"},
		{Syntax, "syntax"}, {ByScheme, "scheme"}, {Level(9), "unknown"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%v, want %s", c.got, c.want)
		}
	}
}

// TestLinear resolves long runs of dot segments. A quadratic algorithm would
// take minutes of processor time, so the limit also suits the race detector.
func TestLinear(t *testing.T) {
	const n = 200_000
	cputime.Limit(t, 20*time.Second, func() {
		for _, c := range []struct{ name, path string }{
			{"up", strings.Repeat("../", 1_000_000)},
			{"down and up", strings.Repeat("a/", n) + strings.Repeat("../", n)},
			{"here", strings.Repeat("./", n)},
			{"zigzag", strings.Repeat("a/../", n)},
			{"empty", strings.Repeat("/", n)},
			{"encoded", strings.Repeat("%2e%2e/", n)},
			{"colons", "./" + strings.Repeat(":", n)},
		} {
			base := MustParse("http://a/b/c")
			ref := MustParse(strings.TrimPrefix(c.path, "//"))
			for _, m := range []Mode{RFC3986, Draft2003, Draft1997} {
				u, err := m.Resolve(base, ref)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				u.Normalize(ByScheme)
				Relativize(base, u)
				Relativize(u, base)
			}
		}
		for _, in := range []string{
			"//" + strings.Repeat("a:", n), "//" + strings.Repeat("a@", n), "//[" + strings.Repeat("1:", n),
			"//[" + strings.Repeat("%25", n) + "]", strings.Repeat("a", n) + ":", "//" + strings.Repeat("1.", n),
		} {
			ParseZone(in)
		}
	})
}
