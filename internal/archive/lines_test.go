package archive

import "testing"

// TestFailedLines: an item of the list of failures is one URL on one line.
func TestFailedLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://a.example/x": true, "http://a.example/x\nhttp://b.example/": false, "http://a.example/x\rhttp://b.example/": false,
		"http://a.example/a b": false, "http://a.example/\x1b[0m": false, "http://u:p@a.example/": false, "": false, "http://a.example/\x00": false,
		"news:a@b": true,
	} {
		if got := isListable(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestDistinctBoxes: no two mailboxes have a name that some file system treats
// as one, and each name stays the same.
func TestDistinctBoxes(t *testing.T) {
	t.Parallel()
	b := &mailboxWriter{names: map[string]string{}}
	for range 2 {
		for name, want := range map[string]string{"h/A.b": "h/A.b"} {
			if got := b.uniqueName(name); got != want {
				t.Errorf("%s is %s", name, got)
			}
		}
		lower, upper := b.uniqueName("h/a.b"), b.uniqueName("h/A.B")
		if lower == upper || lower == "h/a.b" || upper == "h/A.B" || b.uniqueName("h/a.b") != lower {
			t.Errorf("%s and %s", lower, upper)
		}
	}
}
