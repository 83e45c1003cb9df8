package warc

import (
	"errors"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A zeroReader is a large block of zeros that uses no memory.
type zeroReader struct{ at, size int64 }

func (z *zeroReader) Read(p []byte) (int, error) {
	n := int(min(int64(len(p)), z.size-z.at))
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	z.at += int64(n)
	return n, nil
}

func (z *zeroReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += z.at
	case io.SeekEnd:
		offset += z.size
	}
	if offset < 0 {
		return 0, errors.New("offset before the start")
	}
	z.at = offset
	return offset, nil
}

// TestMemory verifies that writing, verifying, indexing and replaying a large
// block uses a constant amount of memory.
func TestMemory(t *testing.T) {
	const size, limit = 32 << 20, 4 << 20
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	c := at("ftp://h.example/large", 0)
	var path string
	var before, after runtime.MemStats
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"write", func() error {
			positions := mustWrite(t, w, c.Resource("application/octet-stream", &zeroReader{size: size}))
			path = dir.Name() + "/" + positions[0].File
			return w.Close()
		}},
		{"verify", func() error {
			for f, err := range Verify(path) {
				t.Error(f, err)
			}
			return nil
		}},
		{"index", func() error { return Index(io.Discard, path) }},
		{"replay", func() error {
			a, err := Open(path)
			if err != nil {
				return err
			}
			defer a.Close()
			resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse("ftp://h.example/large")})
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			n, err := io.Copy(io.Discard, resp.Body)
			if n != size {
				t.Errorf("got %d bytes", n)
			}
			return err
		}},
	} {
		runtime.ReadMemStats(&before)
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > limit {
			t.Errorf("%s: allocated %d KiB", step.name, used>>10)
		}
	}
	os.Remove(path)
}

// TestBomb verifies that a header without an end and a highly compressed record
// use little memory.
func TestBomb(t *testing.T) {
	const limit = 8 << 20
	for name, text := range map[string]io.Reader{
		"endless field":      io.MultiReader(text("WARC/1.1\r\nA: "), &zeroReader{size: 16 << 20}),
		"endless first line": &zeroReader{size: 16 << 20},
	} {
		r, w := io.Pipe()
		go func() { // compresses while the Reader reads
			z := newNamed(w)
			_, err := io.Copy(z, text)
			w.CloseWithError(errors.Join(err, z.Close()))
		}()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewReader(r).Next()
		runtime.ReadMemStats(&after)
		r.Close()
		if !errors.Is(err, fetch.Mismatch) {
			t.Errorf("%s: got error %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > limit {
			t.Errorf("%s: allocated %d KiB", name, used>>10)
		}
	}
}
