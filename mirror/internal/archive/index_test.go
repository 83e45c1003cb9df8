package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/warc"
)

// TestIndexOfRun checks that the index of the records of a run is written without
// reading the WARC files. The test damages the files before it calls Derive.
func TestIndexOfRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		maxSize int64
		files   int
	}{
		{"one file", 0, 1},
		{"one file for each record", 1, 3},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{WARC: &warc.Options{MaxSize: c.maxSize}, Now: time.Now})
		l := claimItems(t, a, "http://a.example/1", "http://a.example/2", "http://a.example/3")
		var urls []string
		for _, it := range l.Items {
			urls = append(urls, visit(t, a, l, it, body).URL)
		}
		names, _ := filepath.Glob(filepath.Join(dir, warcFolder, "*"))
		if len(names) != c.files {
			t.Errorf("%s: files %q, want %d", c.name, names, c.files)
		}
		for _, name := range names { // the damage is older than the index
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			junk := make([]byte, info.Size())
			if err := errors.Join(os.WriteFile(name, junk, 0o666), os.Chtimes(name, time.Unix(1e9, 0), time.Unix(1e9, 0))); err != nil {
				t.Fatal(err)
			}
		}
		closeArchive(t, a)
		index, err := os.ReadFile(filepath.Join(dir, indexFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, url := range urls {
			if !strings.Contains(string(index), url) {
				t.Errorf("%s: the index lacks %s", c.name, url)
			}
		}
	}
}

// TestOldIndex checks that Derive writes the index of a finished WARC file only if
// it is missing or older than the file.
func TestOldIndex(t *testing.T) {
	t.Parallel()
	const mark = `com,example,b)/ 20260101000000 {"url":"http://b.example/"}`
	old, recent := time.Unix(1e9, 0), time.Unix(2e9, 0)
	for _, c := range []struct {
		name        string
		index, warc time.Time
		change      func(name string) error // of the index
		kept        bool
	}{
		{"newer index", recent, old, nil, true},
		{"older index", old, recent, nil, false},
		{"index of the same time", old, old, nil, false},
		{"missing index", recent, old, os.Remove, false},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{WARC: &warc.Options{}, Now: time.Now})
		l := claimItems(t, a, "http://a.example/1")
		file := visit(t, a, l, l.Items[0], body).File
		closeArchive(t, a)
		index := filepath.Join(dir, indexName(file))
		err := errors.Join(grow(index, mark+"\n"), os.Chtimes(index, c.index, c.index),
			os.Chtimes(filepath.Join(dir, warcFolder, file), c.warc, c.warc))
		if c.change != nil {
			err = errors.Join(err, c.change(index))
		}
		if err != nil {
			t.Fatal(err)
		}
		closeArchive(t, openArchive(t, dir, Options{WARC: &warc.Options{}, Now: time.Now}))
		text, err := os.ReadFile(filepath.Join(dir, indexFile))
		if got := strings.Contains(string(text), mark); got != c.kept || !strings.Contains(string(text), "http://a.example/1") || err != nil {
			t.Errorf("%s: kept: %t, want %t; index %q, error %v", c.name, got, c.kept, text, err)
		}
	}
}

// TestFinishedFiles checks that each finished WARC file is reported once, with its
// size, and that an empty file is not reported.
func TestFinishedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		maxSize int64
		visits  int
		want    []int // number of reported files after each visit, and at the end
	}{
		{"no records", 0, 0, []int{0}},
		{"one file", 0, 2, []int{0, 0, 1}},
		{"one file for each record", 1, 3, []int{1, 2, 3, 3}},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{WARC: &warc.Options{MaxSize: c.maxSize}, Now: time.Now})
		reported := map[string]int64{}
		a.records.finished = func(name string, size int64) {
			if reported[name] != 0 {
				t.Errorf("%s: %s was reported twice", c.name, name)
			}
			reported[name] = size
		}
		l := claimItems(t, a, "http://a.example/1", "http://a.example/2", "http://a.example/3")
		var got []int
		for _, it := range l.Items[:c.visits] {
			visit(t, a, l, it, body)
			got = append(got, len(reported))
		}
		closeArchive(t, a)
		if got = append(got, len(reported)); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: reported files %d, want %d", c.name, got, c.want)
		}
		for name, size := range reported {
			if info, err := os.Stat(filepath.Join(dir, warcFolder, name)); err != nil || info.Size() != size {
				t.Errorf("%s: reported size %d of %s: %v", c.name, size, name, err)
			}
		}
	}
}
