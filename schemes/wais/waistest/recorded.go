package waistest

import (
	"embed"
	"encoding/hex"
	"strings"
	"testing"
)

//go:embed testdata/*.hex
var recordings embed.FS

// An Exchange is a request and what freeWAIS-sf answered, as they were
// recorded: whole messages. An empty Answer is a connection that it closed.
type Exchange struct {
	Title           string
	Request, Answer []byte
}

// Recorded reads a session with freeWAIS-sf; testdata/README.md says what
// there is.
func Recorded(t testing.TB, file string) (all []Exchange) {
	t.Helper()
	text, err := recordings.ReadFile("testdata/" + file)
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

// Recordings lists what Recorded can read.
func Recordings(t testing.TB) (files []string) {
	t.Helper()
	all, err := recordings.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		files = append(files, f.Name())
	}
	return files
}
