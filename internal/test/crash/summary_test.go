package crash

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

func hash(text string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, text)
	return h.Sum64()
}

func sortLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// summary describes the files of a folder, without the properties that differ
// between two runs, such as times. Each line of crawl.jsonl, each row of the
// database, each record and each line of an index has a line in the summary, so
// that lost and duplicate ones differ. An archive has the name "a".
func (tr *trial) summary(t *testing.T) string {
	t.Helper()
	dir := tr.dir
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		describe(name, body, add)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a := filepath.Join(dir, "a")
	if _, err := os.Stat(filepath.Join(a, "fetch.db")); err == nil {
		describeArchive(t, mirror.Location{Dir: a}, filepath.Join(a, "warc"), add)
	}
	if tr.remote != nil {
		tr.remote.describe(t, add)
	}
	slices.Sort(lines)
	// A killed process can leave a copy of a damaged file in the attic.
	lines = slices.CompactFunc(lines, func(a, b string) bool { return a == b && strings.HasPrefix(a, "a/N/") })
	return strings.Join(lines, "\n") + "\n"
}

// unnamed matches the parts of file names that differ between two runs: times,
// serial numbers and host names.
var unnamed = regexp.MustCompile(`\d{14}-\d{5}-[^/.]*|damaged-[^/]*|attic/(run|heal)-[^/]*`)

// describe adds the lines of a file.
func describe(name string, body []byte, add func(string, ...any)) {
	plain := unnamed.ReplaceAllString(name, "N")
	switch base := filepath.Base(name); {
	case name == "a/crawl.jsonl":
		for line := range bytes.Lines(body) {
			var e mirror.Event
			if err := json.Unmarshal(line, &e); err != nil {
				add("%s: %v", name, err)
			}
			if e.URL != "" {
				add("%s: run %d, %s %s", name, e.Run, e.State, e.URL)
			}
		}
	case strings.HasSuffix(base, ".warc.gz"), strings.HasSuffix(base, ".warc"):
		describeRecords(body, add)
	case strings.HasSuffix(base, ".cdxj"):
		if base != "all.cdxj" && strings.Contains(name, "index/") {
			return // its lines are in all.cdxj
		}
		for line := range strings.Lines(string(body)) {
			var l struct{ URL, Digest, Mime string }
			_, object, _ := strings.Cut(line, "{")
			if err := json.Unmarshal([]byte("{"+object), &l); err != nil {
				add("%s: %v", name, err)
			}
			add("%s: %s %s", plain, l.URL, l.Digest)
		}
	case strings.HasPrefix(base, "fetch.db"), base == "lock", base == "manifest-sha256.txt", base == "report.json",
		base == "report.txt", strings.HasSuffix(base, ".wacz"), base == "options.json", base == "worker.json":
		if len(body) == 0 && base != "lock" && !strings.HasSuffix(base, "-wal") {
			add("%s is empty", plain)
		}
		if !strings.HasPrefix(base, "fetch.db-") && base != "lock" {
			add("%s exists", plain)
		}
	case strings.HasPrefix(plain, "a/N/") && base == "crawl.jsonl":
		add("%s exists", plain) // it may have the lines of several attempts
	default:
		add("%s: %d bytes %x", plain, len(body), sha256.Sum256(body))
	}
}

// describeRecords adds a line for each record of a WARC file.
func describeRecords(body []byte, add func(string, ...any)) {
	r := warc.NewReader(bufio.NewReader(bytes.NewReader(body)))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			add("record: %v", err)
			return
		}
		if h.Type() != warc.Info {
			// Of two objects with the same content, either is a revisit.
			add("record: %s %s", strings.Replace(string(h.Type()), "revisit", "response", 1), h.Target())
		}
	}
}

// describeArchive adds the findings of Verify and the rows of the database. The
// folder files contains the WARC files.
func describeArchive(t *testing.T, place mirror.Location, files string, add func(string, ...any)) {
	t.Helper()
	for f, err := range mirror.Open(place).Verify(t.Context()) {
		if err != nil {
			add("verify: %v", err)
		} else {
			add("verify: %s %s", unnamed.ReplaceAllString(f.Path, "N"), unnamed.ReplaceAllString(f.Text, "N"))
		}
	}
	for l, err := range mirror.Open(place).Dump(t.Context()) {
		if err != nil {
			add("dump: %v", err)
			continue
		}
		add("database: %s %s %s %d bytes", l.State, l.URL, l.Path, l.Size)
		if l.WARC == "" {
			continue
		}
		if err := checkRecord(filepath.Join(files, l.WARC), l); err != nil {
			add("database: %s: %v", l.URL, err)
		}
	}
}

// checkRecord checks that a row of the database refers to the record of its URL.
func checkRecord(path string, l mirror.Line) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h, err := warc.NewReaderAt(f, l.Offset).Next()
	if err == nil && h.Target() != l.URL {
		err = fmt.Errorf("the record has the URL %s", h.Target())
	}
	return err
}

// differ returns the lines that only one of two texts contains, with the number
// of their copies.
func differ(got, want string) string {
	counts := map[string]int{}
	for line := range strings.Lines(got) {
		counts[line]++
	}
	for line := range strings.Lines(want) {
		counts[line]--
	}
	var all []string
	for line, n := range counts {
		if n != 0 {
			all = append(all, fmt.Sprintf("%+d %s", n, line))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}
