package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestVersionFlag checks that -V lists all schemes, and that it ignores
// malformed options files.
func TestVersionFlag(t *testing.T) {
	for _, args := range [][]string{{"-V"}, {"--version"}, {"-V", "-K", "/nonexistent/options"}} {
		var out, stderr bytes.Buffer
		if code := app.Run(args, strings.NewReader(""), &out, &stderr); code != 0 || stderr.Len() > 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, &stderr)
		}
		for _, want := range []string{"fetch ", "\nSchemes: afs cid data dav davs dict file finger ftp ftps ", " zstd\n", " HTTP2 "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: no %q in %s", args, want, &out)
			}
		}
	}
}
