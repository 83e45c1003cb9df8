package waistest

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An Exchange is a request and what freeWAIS-sf answered, as they were
// recorded: whole messages. An empty Answer is a connection that it closed.
type Exchange struct {
	Title           string
	Request, Answer []byte
}

// Recorded reads the sessions of a file of schemes/wais/testdata, of which dir
// is the path.
func Recorded(t testing.TB, dir, file string) (all []Exchange) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var to *[]byte
	for l := range strings.Lines(string(text)) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "# C>S "), strings.HasPrefix(l, "> "):
			title, _, _ := strings.Cut(l[2:], " (")
			all = append(all, Exchange{Title: strings.TrimPrefix(title, "C>S ")})
			to = &all[len(all)-1].Request
		case strings.HasPrefix(l, "# S>C "), strings.HasPrefix(l, "< "):
			to = &all[len(all)-1].Answer
		case to != nil && len(l) > 8 && l[0] == '0':
			b, err := hex.DecodeString(strings.ReplaceAll(l[8:min(56, len(l))], " ", ""))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			*to = append(*to, b...)
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s holds no exchange", file)
	}
	return all
}

// Files lists what Recorded can read.
func Files(t testing.TB, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.hex"))
	if err != nil || len(paths) < 17 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}
