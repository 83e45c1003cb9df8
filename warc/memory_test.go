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

// zeros is a block that is nowhere in memory.
type zeros struct{ at, size int64 }

func (z *zeros) Read(p []byte) (int, error) {
	n := int(min(int64(len(p)), z.size-z.at))
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	z.at += int64(n)
	return n, nil
}

func (z *zeros) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += z.at
	case io.SeekEnd:
		offset += z.size
	}
	if offset < 0 {
		return 0, errors.New("before the beginning")
	}
	z.at = offset
	return offset, nil
}

// TestMemory: whatever the size of a block, writing, verifying, indexing and
// replaying it takes a few buffers.
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
			places := mustWrite(t, w, c.Resource("application/octet-stream", &zeros{size: size}))
			path = dir.Name() + "/" + places[0].File
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
				t.Errorf("read %d bytes", n)
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

// TestBomb: a record whose head never ends, and one that unpacks to far more
// than it is, take no memory.
func TestBomb(t *testing.T) {
	const limit = 8 << 20
	for name, text := range map[string]io.Reader{
		"endless line": io.MultiReader(text("WARC/1.1\r\nA: "), &zeros{size: 16 << 20}),
		"first line":   &zeros{size: 16 << 20},
	} {
		r, w := io.Pipe()
		go func() { // packs as it is read
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
			t.Errorf("%s: error %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > limit {
			t.Errorf("%s: allocated %d KiB", name, used>>10)
		}
	}
}
