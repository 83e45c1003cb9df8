package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// longURL returns a URL of n bytes.
func longURL(n int) string {
	const start = "http://a.example/"
	return start + strings.Repeat("x", n-len(start))
}

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
		"http://a.example/\x7f":                 false,
		"http://a.example/\u00e9":               false,
		longURL(maxLineLength - 1):              true,
		longURL(maxLineLength):                  false,
		"news:a@b":                              true,
	} {
		if got := isListable(text); got != want {
			t.Errorf("isListable(%q) = %t, want %t", text, got, want)
		}
	}
}

// TestFailures compares the failures of a run with those of the run before it.
func TestFailures(t *testing.T) {
	t.Parallel()
	dead, pending := frontier.Result{State: frontier.Dead}, frontier.Result{Retry: time.Now().Add(time.Hour)}
	known, long := "http://a.example/known", longURL(maxLineLength-1)
	for _, c := range []struct {
		name          string
		before        string // failed.txt of the previous run
		urls          []string
		results       []frontier.Result // of the URLs
		run           int64             // run whose failures are listed
		new, unlisted int64
		want          string // failed.txt
	}{
		{"no failures", known, []string{known}, []frontier.Result{{State: frontier.Done}}, 1, 0, 0, ""},
		{"failed for the first time", "", []string{known}, []frontier.Result{dead}, 1, 1, 0, known},
		{"failed again", known, []string{known}, []frontier.Result{dead}, 1, 0, 0, known},
		{"postponed", "", []string{known}, []frontier.Result{{Postpone: true}}, 1, 1, 0, known},
		{"postponed, and another failure", "", []string{known, "http://a.example/x"}, []frontier.Result{{Postpone: true}, dead}, 1, 2, 0,
			"http://a.example/x\n" + known},
		{"waits until later, after another failure", "", []string{known, "http://a.example/x"}, []frontier.Result{pending, dead}, 1, 2, 0,
			"http://a.example/x\n" + known},
		{"waits until later, without a failure", "", []string{known}, []frontier.Result{pending}, 1, 0, 0, ""},
		{"failed in another run", "", []string{known}, []frontier.Result{dead}, 2, 0, 0, ""},
		{"longest line, failed again", long, []string{long}, []frontier.Result{dead}, 1, 0, 0, long},
		{"URL that is too long for a line", "", []string{long + "x", known}, []frontier.Result{dead, dead}, 1, 1, 1, known},
		{"no final line break, and other URLs", "http://b.example/\n" + known, []string{known}, []frontier.Result{dead}, 1, 0, 0, known},
	} {
		dir := t.TempDir()
		a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
		l := claimItems(t, a, c.urls...)
		var batch []Entry
		for i, r := range c.results {
			r.Item = l.Items[i]
			batch = append(batch, Entry{Result: r, Records: func(*frontier.Capture) ([]*warc.Record, error) { return nil, nil }})
		}
		err := a.Commit(t.Context(), l, batch, func() {})
		name := filepath.Join(dir, failedFile)
		if c.before != "" {
			err = errors.Join(err, os.WriteFile(name, []byte(c.before), 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := a.Failures(t.Context(), c.run)
		if f.New != c.new || f.Unlisted != c.unlisted || err != nil {
			t.Errorf("%s: %d new, %d unlisted, error %v; want %d, %d", c.name, f.New, f.Unlisted, err, c.new, c.unlisted)
		}
		if err := f.Write(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		text, err := os.ReadFile(name)
		if (err == nil) != (c.want != "") || strings.TrimSuffix(string(text), "\n") != c.want {
			t.Errorf("%s: failed.txt %.100q, error %v, want %.100q", c.name, text, err, c.want)
		}
		closeArchive(t, a)
	}
}
