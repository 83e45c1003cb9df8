package tree

import (
	"testing"

	"github.com/anyurl/fetch/uri"
)

func TestRelative(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"http/h/a", "http/h/b", "b"},
		{"http/h/a", "http/h/a", "a"},
		{"http/h/a/b", "http/h/c", "../c"},
		{"http/h/a", "http/h/b/c", "b/c"},
		{"http/h/ab/x", "http/h/ac/x", "../ac/x"},
		{"http/h/a", "gopher/h/.gophermap", "../../gopher/h/.gophermap"},
		{"http/h/a", "http/h/b%2Fc@q=ü+", "b%252Fc@q=%C3%BC+"},
	} {
		got := Relative(c.from, c.to)
		if got != c.want {
			t.Errorf("from %s to %s: got %s, want %s", c.from, c.to, got, c.want)
		}
		u, err := uri.MustParse("file:///" + c.from).Resolve(uri.MustParse(got))
		if path, _ := uri.Unescape(u.Path()); err != nil || path != "/"+c.to {
			t.Errorf("from %s: %s resolves to %s, want /%s", c.from, got, path, c.to)
		}
	}
}
