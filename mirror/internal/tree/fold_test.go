package tree

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// TestFoldCase compares the folding of each character with that of package cases.
// The characters of Cherokee are compared with the Unicode database instead,
// because package cases exchanges their small and capital letters.
func TestFoldCase(t *testing.T) {
	full := cases.Fold()
	for r := range unicode.MaxRune + 1 {
		text := norm.NFD.String(string(r))
		if got, want := foldCase(text), full.String(text); got != want && !unicode.Is(unicode.Cherokee, r) {
			t.Errorf("%U: got %+q, want %+q", r, got, want)
		}
		if unicode.Is(unicode.Cherokee, r) && foldCase(text) != strings.ToUpper(text) {
			t.Errorf("%U: got %+q", r, foldCase(text))
		}
	}
	for _, text := range []string{"a\xffB\xc3", "\ufffd\xef\xbf", "ΑΣ ΣΑΣ.", "Straße"} {
		if got, want := foldCase(text), full.String(text); got != want {
			t.Errorf("%+q: got %+q, want %+q", text, got, want)
		}
	}
}
