package warc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestTruncated truncates a file at every offset. The Reader must return all
// complete records, and an Error with the end of the last one.
func TestTruncated(t *testing.T) {
	step := 13
	if testing.Short() {
		step *= 7
	}
	for _, uncompressed := range []bool{false, true} {
		opts := testOptions()
		opts.Uncompressed = uncompressed
		file, err := os.ReadFile(sample(t, opts))
		if err != nil {
			t.Fatal(err)
		}
		ends, truncated := completeRecords(t, file)
		if truncated != nil || ends[len(ends)-1] != int64(len(file)) {
			t.Fatalf("complete file: error %v, record ends %v", truncated, ends)
		}
		for size := 0; size < len(file); size += step {
			last := int64(0)
			count := 0
			for _, end := range ends {
				if end <= int64(size) {
					last = end
					count++
				}
			}
			got, truncated := completeRecords(t, file[:size])
			switch {
			case len(got) != count:
				t.Fatalf("uncompressed %v, size %d: got %d complete records, want %d", uncompressed, size, len(got), count)
			case last == int64(size):
				if truncated != nil {
					t.Fatalf("uncompressed %v, size %d: %v", uncompressed, size, truncated)
				}
			case truncated == nil || !truncated.Truncated || truncated.Offset != last:
				t.Fatalf("uncompressed %v, size %d: got %v, want a truncated record at %d", uncompressed, size, truncated, last)
			}
		}
	}
}

// completeRecords returns the end offsets of the complete records, and the last
// error.
func completeRecords(t *testing.T, file []byte) (ends []int64, truncated *Error) {
	t.Helper()
	r := NewReader(bytes.NewReader(file))
	for {
		h, err := r.Next()
		var length int64
		if err == nil {
			length, err = r.Finish()
		}
		switch {
		case err == io.EOF:
			return ends, truncated
		case err == nil:
			ends = append(ends, h.Offset+length)
		case !errors.As(err, &truncated):
			t.Fatal(err)
		}
	}
}

// TestResumeTruncated resumes a truncated file at the offset of the Error.
func TestResumeTruncated(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	positions := writeSample(t, w)
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	name := positions[0].File
	file, err := dir.ReadFile(name + OpenSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range positions[1:] {
		size := p.End() - 3
		if err := dir.WriteFile(name+OpenSuffix, file[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		_, truncated := completeRecords(t, file[:size])
		opts := testOptions()
		opts.newID = nil
		w := testWriter(t, dir, opts)
		if err := w.Resume(name, truncated.Offset); err != nil {
			t.Fatal(err)
		}
		if next := mustWrite(t, w, resource("file:///next"))[0]; next.File != name || next.Offset != truncated.Offset ||
			next.Offset > p.Offset {
			t.Errorf("size %d: continued at %+v", size, next)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for f, err := range Verify(dir.Name() + "/" + name) {
			// The first record of the group still refers to the last one.
			if err != nil || f.Problem != DanglingReference {
				t.Errorf("size %d: %v %v", size, f, err)
			}
		}
		if err := dir.Rename(name, name+OpenSuffix); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMissingEnd indexes, lists and replays a file whose last record is not
// followed by two line breaks.
func TestMissingEnd(t *testing.T) {
	for _, end := range []string{"", "\r\n", "\r\n\r"} {
		text := res(1, "") + strings.TrimSuffix(res(2, ""), "\r\n\r\n") + end
		var lines, listed []string
		var errs [2]error
		for l, err := range Lines("a.warc", strings.NewReader(text)) {
			if errs[0] = err; err == nil {
				lines = append(lines, l.URL)
			}
		}
		for e, err := range Entries(strings.NewReader(text)) {
			if errs[1] = err; err == nil {
				listed = append(listed, e.Name)
			}
		}
		if want := []string{"file:///1", "file:///2"}; !slices.Equal(lines, want) || !slices.Equal(listed, want) {
			t.Errorf("end %q: got lines %q, entries %q", end, lines, listed)
		}
		if !errors.Is(errs[0], fetch.Truncated) || !errors.Is(errs[1], fetch.Truncated) || findingsOf(t, []byte(text)) != "torn 2" {
			t.Errorf("end %q: got errors %v, findings %q", end, errs, findingsOf(t, []byte(text)))
		}
		a := openBytes(t, "a.warc", []byte(text))
		if body, err := replayText(t, a, "file:///2"); body != "hello" || err != nil || len(a.Damaged) != 1 {
			t.Errorf("end %q: got %q, %v, damage %v", end, body, err, a.Damaged)
		}
		for e, err := range a.Captures(t.Context(), uri.MustParse("file:///2")) {
			if e.Extra["id"] == "" || err != nil {
				t.Errorf("end %q: got capture %v, %v", end, e, err)
			}
		}
	}
}
