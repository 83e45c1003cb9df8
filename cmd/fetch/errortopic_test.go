package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
)

// TestErrorTopics checks that each flag in the text of an error is described by
// a page of the documentation, which the error can name.
func TestErrorTopics(t *testing.T) {
	literal := regexp.MustCompile(`Errorf\((?:[^"\n]*)"((?:[^"\\]|\\.)*)"`)
	flag := regexp.MustCompile(`(?:^|[ (])--[a-z][a-z0-9-]*[a-z0-9]`)
	found := 0
	for _, dir := range []string{".", "../../fetch", "../../mirror", "../../schemes", "../../wrap", "../../warc", "../../gateway"} {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
				own, _, _ := strings.Cut(m[1], "; fetch ")
				if !flag.MatchString(own) {
					continue
				}
				if found++; console.Topic(m[1]) == "" {
					t.Errorf("%s: no page for %q", name, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 50 {
		t.Errorf("%d errors with flags", found)
	}
	for _, c := range []struct{ message, want string }{
		{"port 25 is blocked for http: it belongs to smtp (use --allow-port http:25)", "policy"},
		{"--page-requisites is unknown", "mirror-rules"},
		{"-C and -J exclude each other", "downloading"},
		{"failed: 1; fetch frontier dump --state dead x lists them", ""},
		{"not found", ""},
		{"http://h/--allow-port is missing", ""},
		{"a-k", ""},
	} {
		if got := console.Topic(c.message); got != c.want {
			t.Errorf("%s: got %q, want %q", c.message, got, c.want)
		}
	}
}

// TestErrorTopicJSON checks the member "help" of errors as JSON.
func TestErrorTopicJSON(t *testing.T) {
	for _, c := range []struct {
		oddity string
		err    error
		want   string
	}{
		{"flag", fetch.Usage.Errorf("--checksum excludes -r"), "verify-downloads"},
		{"no flag", fetch.NotFound.Errorf("not found"), ""},
	} {
		if got := console.ErrorRecordOf(c.err, 2, console.ErrorSource{}).Help; got != c.want {
			t.Errorf("%s: got %q, want %q", c.oddity, got, c.want)
		}
	}
}
