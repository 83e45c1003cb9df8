package archive

import "testing"

func TestIsListable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://a.example/x":                    true,
		"http://a.example/x\nhttp://b.example/": false,
		"http://a.example/x\rhttp://b.example/": false,
		"http://a.example/a b":                  false,
		"http://a.example/\x1b[0m":              false,
		"http://u:p@a.example/":                 false,
		"":                                      false,
		"http://a.example/\x00":                 false,
		"news:a@b":                              true,
	} {
		if got := isListable(text); got != want {
			t.Errorf("isListable(%q) = %t, want %t", text, got, want)
		}
	}
}
