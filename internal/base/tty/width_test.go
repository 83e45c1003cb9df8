package tty

import "testing"

func TestCut(t *testing.T) {
	for _, c := range []struct {
		name, text string
		width      int
		columns    int
		want       string
	}{
		{"fits", "name", 4, 4, "name"},
		{"one column too long", "names", 5, 4, "nam…"},
		{"wide characters", "日本語", 6, 6, "日本語"},
		{"a wide character does not fit into one column", "日本語", 6, 4, "日…"},
		{"combining mark", "e\u0301e\u0301", 2, 2, "e\u0301e\u0301"},
		{"emoji", "😀😀", 4, 3, "😀…"},
		{"one column", "abc", 3, 1, "…"},
		{"no column", "abc", 3, 0, ""},
		{"negative number of columns", "abc", 3, -5, ""},
		{"empty text", "", 0, 0, ""},
	} {
		if got := Width(c.text); got != c.width {
			t.Errorf("%s: width %d, want %d", c.name, got, c.width)
		}
		if got := Cut(c.text, c.columns); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
