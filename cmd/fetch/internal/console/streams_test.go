package console

import (
	"strings"
	"testing"
)

// TestPrintJSON checks that strings, such as host names in the archive of a stranger,
// cannot control the terminal.
func TestPrintJSON(t *testing.T) {
	var out strings.Builder
	s := &Streams{Stdout: &out}
	if err := s.PrintJSON(map[string]string{"host": "a\x1b\u009b31m\u202e\x7fb<ü"}); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"host\": \"a\\u001b\\u009b31m\\u202e\\u007fb\\u003cü\"\n}\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
