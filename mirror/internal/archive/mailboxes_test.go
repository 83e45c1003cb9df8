package archive

import "testing"

// TestUniqueName checks that mailboxes have different names on file systems
// that ignore case, and that each mailbox keeps its name.
func TestUniqueName(t *testing.T) {
	t.Parallel()
	b := &mailboxWriter{names: map[string]string{}}
	for range 2 {
		for name, want := range map[string]string{"h/A.b": "h/A.b"} {
			if got := b.uniqueName(name); got != want {
				t.Errorf("uniqueName(%q) = %q, want %q", name, got, want)
			}
		}
		lower, upper := b.uniqueName("h/a.b"), b.uniqueName("h/A.B")
		if lower == upper || lower == "h/a.b" || upper == "h/A.B" || b.uniqueName("h/a.b") != lower {
			t.Errorf("got the names %q and %q for h/a.b and h/A.B", lower, upper)
		}
	}
}
