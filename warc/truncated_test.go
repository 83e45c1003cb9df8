package warc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
)

// TestTorn: wherever a file ends, the records before are whole, the tear is
// told with the place where to cut, and what is cut there is whole.
func TestTorn(t *testing.T) {
	for _, plain := range []bool{false, true} {
		opts := testOptions()
		opts.Uncompressed = plain
		file, err := os.ReadFile(sample(t, opts))
		if err != nil {
			t.Fatal(err)
		}
		ends, torn := wholes(t, file)
		if torn != nil || ends[len(ends)-1] != int64(len(file)) {
			t.Fatalf("the sample: %v, %v", torn, ends)
		}
		for cut := 0; cut < len(file); cut += 13 {
			last := int64(0)
			count := 0
			for _, end := range ends {
				if end <= int64(cut) {
					last = end
					count++
				}
			}
			got, torn := wholes(t, file[:cut])
			switch {
			case len(got) != count:
				t.Fatalf("plain %v, cut at %d: %d whole records, not %d", plain, cut, len(got), count)
			case last == int64(cut):
				if torn != nil {
					t.Fatalf("plain %v, cut at %d: %v", plain, cut, torn)
				}
			case torn == nil || !torn.Truncated || torn.Offset != last:
				t.Fatalf("plain %v, cut at %d: %v, want a tear at %d", plain, cut, torn, last)
			}
		}
	}
}

// wholes reads a file: where its whole records end, and the last error.
func wholes(t *testing.T, file []byte) (ends []int64, torn *Error) {
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
			return ends, torn
		case err == nil:
			ends = append(ends, h.Offset+length)
		case !errors.As(err, &torn):
			t.Fatal(err)
		}
	}
}

// TestTornMend: a Writer goes on where a tear was told.
func TestTornMend(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	places := writeSample(t, w)
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	name := places[0].File
	whole, err := dir.ReadFile(name + OpenSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places[1:] {
		cut := p.End() - 3
		if err := dir.WriteFile(name+OpenSuffix, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		_, torn := wholes(t, whole[:cut])
		opts := testOptions()
		opts.NewID = nil
		w := testWriter(t, dir, opts)
		if err := w.Resume(name, torn.Offset); err != nil {
			t.Fatal(err)
		}
		if next := mustWrite(t, w, resource("file:///next"))[0]; next.File != name || next.Offset != torn.Offset || next.Offset > p.Offset {
			t.Errorf("cut at %d: went on with %+v", cut, next)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for f, err := range Verify(dir.Name() + "/" + name) {
			// A group that lost its last record names it still.
			if err != nil || f.Problem != DanglingReference {
				t.Errorf("cut at %d: %v %v", cut, f, err)
			}
		}
		if err := dir.Rename(name, name+OpenSuffix); err != nil {
			t.Fatal(err)
		}
	}
}
