package download_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestMetalinkFiles retrieves the files of a Metalink document with two files.
func TestMetalinkFiles(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		names, ok := map[string]string{"/two.meta4": "ab", "/a.meta4": "a", "/b.meta4": "a"}[r.URL.Path]
		if ok && r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if ok {
			fmt.Fprint(w, "<metalink>")
			for _, name := range names {
				fmt.Fprintf(w, `<file name="%c"><size>2</size><url>/%c</url></file>`, name, name)
			}
			fmt.Fprint(w, "</metalink>")
			return
		}
		http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(r.URL.Path))
	}))
	defer s.Close()
	for _, c := range []struct {
		flags, existing string // existing is a file that exists
		code            int
		want            string // files and their contents, or a part of the message
	}{
		{"--output-dir DIR U/two.meta4", "", 0, "a=/a b=/b"},
		{"--output-dir DIR --max-time 600 U/two.meta4", "", 0, "a=/a b=/b"},
		{"-o DIR/f U/two.meta4", "", 2, "use -O or --output-dir"},
		{"--output-dir DIR -o f U/two.meta4", "", 2, "use -O or --output-dir"},
		{"--output-dir DIR -o - U/two.meta4", "", 2, "use -O or --output-dir"},
		{"--output-dir DIR -o f --no-clobber U/two.meta4", "", 0, "f=/a f.1=/b"},
		// A server must not choose which file of the user is replaced.
		{"--output-dir DIR U/two.meta4", "a", 3, "a=old b=/b"},
		{"--output-dir DIR -C - U/two.meta4", "a", 3, "a=old b=/b"},
		{"--output-dir DIR --skip-existing U/two.meta4", "a", 0, "a=old b=/b"},
		{"--output-dir DIR --no-clobber U/two.meta4", "a", 0, "a=old a.1=/a b=/b"},
		{"--output-dir DIR U/b.meta4", "a", 3, "a=old"},
		{"--output-dir DIR -o a U/b.meta4", "a", 0, "a=/a"},
		{"--output-dir DIR U/a.meta4", "a", 0, "a=/a"},
		{"--output-dir DIR -z 2020-01-01 U/a.meta4", "a", 0, "a=old"},
		{"--output-dir DIR -z 1990-01-01 U/a.meta4", "a", 0, "a=/a"},
		{"--output-dir DIR -z DIR/a U/a.meta4", "a", 0, "a=/a"}, // has another size than the object
		{"--output-dir DIR -z DIR/b U/a.meta4", "b", 0, "b=old"},
	} {
		dir := t.TempDir()
		if c.existing != "" {
			if err := os.WriteFile(filepath.Join(dir, c.existing), []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		args := append(strings.Fields(strings.NewReplacer("DIR", dir, "U/", s.URL+"/").Replace(c.flags)), "-q", "--metalink")
		var stdout, stderr bytes.Buffer
		code := app.Run(args, strings.NewReader(""), &stdout, &stderr)
		got := contents(t, dir)
		if c.code != 0 && got == "" && stdout.Len() == 0 {
			got = stderr.String()
		}
		if code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%s: exit code %d, %q, standard output %q: %s", c.flags, code, got, &stdout, &stderr)
		}
	}
}

// contents returns the files in a folder as NAME=CONTENT, separated by spaces.
func contents(t *testing.T, dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Name()+"="+string(text))
	}
	return strings.Join(all, " ")
}
