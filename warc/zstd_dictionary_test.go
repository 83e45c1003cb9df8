package warc

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestDictionary reads the records of files with a dictionary, in sequence and
// at their offsets, and replays records of files with different dictionaries in
// turn.
func TestDictionary(t *testing.T) {
	records := zstdRecords(8)
	dir := t.TempDir()
	var paths []string
	for i, history := range []string{"", records[1] + records[2], "compressed" + records[5]} {
		file := encodeZstd(t, records)
		if history != "" {
			var samples [][]byte
			for _, text := range records {
				samples = append(samples, []byte(text))
			}
			dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{ID: uint32(1000 + i), Contents: samples, History: []byte(history)})
			if err != nil {
				t.Fatal(err)
			}
			file = encodeZstd(t, records, zstd.WithEncoderDict(dictionary))
			if strings.HasPrefix(history, "compressed") {
				dictionary = encodeZstd(t, []string{string(dictionary)})
			}
			file = append(skippable(0x5d, dictionary), file...)
		}
		checkZstdRecords(t, file, records)
		path := filepath.Join(dir, fmt.Sprintf("%d.warc.zst", i))
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	replayInTurn(t, paths, 2)
}

// TestDictionaryCache replays records of several files with dictionaries in
// turn.
func TestDictionaryCache(t *testing.T) {
	records := zstdRecords(100)
	dir := t.TempDir()
	var paths []string
	for _, c := range compressWithZstd(t, records) {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	replayInTurn(t, paths, 1)
}

// replayInTurn replays a capture of the same page from each file. It repeats this
// for the given number of rounds.
func replayInTurn(t *testing.T, paths []string, rounds int) {
	t.Helper()
	a, err := Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	req := &fetch.Request{URL: uri.MustParse("http://h.example/5")}
	for range rounds {
		n := 0
		for l, err := range a.Lookup(req.URL) {
			if err != nil {
				t.Fatal(err)
			}
			resp, err := a.Replay(t.Context(), req, l)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || !strings.Contains(string(body), "Page 5<") {
				t.Errorf("%s: got %q, %v", l.File, body, err)
			}
			resp.Body.Close()
			n++
		}
		if n != len(paths) {
			t.Errorf("%d captures, want %d", n, len(paths))
		}
	}
}

// storedFile counts the reads at the start of a file.
type storedFile struct {
	*bytes.Reader
	starts *int
}

func (f storedFile) ReadAt(p []byte, offset int64) (int, error) {
	if offset == 0 {
		*f.starts++
	}
	return f.Reader.ReadAt(p, offset)
}

func (storedFile) Close() error { return nil }

func (storedFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// oneFile is a file system with one file.
type oneFile struct {
	name   string
	data   []byte
	starts *int
}

func (f oneFile) Open(name string) (fs.File, error) {
	if name != f.name {
		return nil, fs.ErrNotExist
	}
	return storedFile{bytes.NewReader(f.data), f.starts}, nil
}

// TestStoredDictionary replays records of a file in a store. The dictionary is
// read once.
func TestStoredDictionary(t *testing.T) {
	starts := 0
	for _, c := range compressWithZstd(t, zstdRecords(100)) {
		if c.dictionary == "none" {
			continue
		}
		a, err := OpenFiles(oneFile{c.name, c.file, &starts}, c.name)
		if err != nil {
			t.Fatal(err)
		}
		starts = 0
		for range 3 {
			checkReplay(t, a, map[string]string{"http://h.example/7": "Page 7<", "http://h.example/8": "Page 8<"})
		}
		if starts != 1 {
			t.Errorf("%s dictionary: read %d times, want once", c.dictionary, starts)
		}
		a.Close()
	}
}

// TestZstdMemory verifies that the memory of reading does not depend on the size
// of a record.
func TestZstdMemory(t *testing.T) {
	const size, limit = 64 << 20, 8 << 20
	dir := testFolder(t)
	o := testOptions()
	o.Name = "x.warc.zst"
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	o.Zstd = encoder
	w := testWriter(t, dir, o)
	mustWrite(t, w, at("ftp://h.example/large", 0).Resource("application/octet-stream", &zeroReader{size: size}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if found := findings(t, filepath.Join(dir.Name(), o.Name)); found != "" {
		t.Error(found)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > limit {
		t.Errorf("allocated %d KiB", used>>10)
	}
}
