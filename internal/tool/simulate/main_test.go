package main

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"testing"
)

// TestOverlay checks that the changes of the runtime apply to this version of Go,
// and that the result is valid.
func TestOverlay(t *testing.T) {
	name, err := writeOverlay(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &overlay); err != nil || len(overlay.Replace) != 5 {
		t.Fatalf("%s, %v", text, err)
	}
	for original, changed := range overlay.Replace {
		if _, err := os.Stat(original); err != nil {
			t.Error(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), changed, nil, 0); err != nil {
			t.Error(err)
		}
	}
}

// TestDifference checks the report about two runs.
func TestDifference(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"x\ny\n", "x\nz\n", "line 2: y\nline 2: z"}, {"x", "x\ny", "1 and 2 lines"},
	} {
		if got := difference([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%q", got)
		}
	}
}
