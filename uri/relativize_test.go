package uri

import "testing"

func TestRelativize(t *testing.T) {
	for _, c := range []struct{ base, target, want string }{
		{"http://h/a/b?q#f", "http://h/a/b?q", ""},
		{"http://h/a/b?q", "http://h/a/b?q#", "#"},
		{"http://h/a/b?q", "http://h/a/b?r", "?r"},
		{"http://h/a/b?q", "http://h/a/b", "b"},
		{"http://h/a/?q", "http://h/a/", "./"},
		{"http://h/?q", "http://h", "//h"},
		{"http://h", "http://h/", "/"},
		{"http://h/a/b", "http://h/a/c/d", "c/d"},
		{"http://h/a/b/c/d", "http://h/a/x", "/a/x"},
		{"http://h/aaaa/b/c", "http://h/aaaa/x", "../x"},
		{"http://h/a/b", "http://h/a/x:y", "./x:y"},
		{"http://h/a/b", "http://h/a//x", ".//x"},
		{"http://h/a", "http://h//x", ".//x"},
		{"http://h/a", "http://u:p@h/a", "//u:p@h/a"},
		{"http://h/a", "http://h:/a", "//h:/a"},
		{"http://h/a", "https://h/a", "https://h/a"},
		{"http://h/a", "HTTP://h/a", "HTTP://h/a"},
		{"foo:a/b", "foo:c", "foo:c"}, // "../c" would resolve to foo:/c
		{"foo:a/b", "foo:/c", "/c"},
		{"foo:a", "foo:b:c", "./b:c"},
		{"foo:a", "foo://h", "//h"},
		{"foo:/a", "foo:/.//b", ".//b"},
		// No reference resolves to a target with dot segments.
		{"http://h/a/b", "http://h/a/../c", "http://h/a/../c"},
		{"http://h/a/../c", "http://h/a/../c", ""}, // but this one
		{"//h/a", "//h/b", "//h/b"},
	} {
		base, target := MustParse(c.base), MustParse(c.target)
		if got := Relativize(base, target).Unredacted(); got != c.want {
			t.Errorf("from %q to %q: %q, want %q", c.base, c.target, got, c.want)
		}
	}
}
