package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/file"
)

// TestRoot checks that Options.Root restricts the files. The tests of package
// localfile check everything else.
func TestRoot(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "motd"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, test := range []struct {
		options   file.Options
		url, body string
		fault     string
	}{
		{file.Options{}, "file://" + filepath.ToSlash(dir) + "/motd", "hello\n", "ok"},
		{file.Options{Root: root}, "file:///motd", "hello\n", "ok"},
		{file.Options{Root: root}, "file://" + filepath.ToSlash(dir) + "/motd", "", "not-found"},
		{file.Options{Root: root}, "file://h.example/motd", "", "policy-address"},
	} {
		c := schemetest.NewClient(t, file.Schemes(test.options))
		r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, test.url))
		if r.Fault() != test.fault || r.Body != test.body {
			t.Errorf("%s: got %q, %v", test.url, r.Body, r.Err)
		}
	}
}
