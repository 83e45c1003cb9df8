package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/tree"
)

// TestSpool checks where a Spool stores a body, how much memory it reserves, and
// that Free releases both.
func TestSpool(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
	defer closeArchive(t, a)
	for _, c := range []struct {
		name  string
		parts []int // bytes of each call of Write
		used  int64 // bytes of memory that are reserved by others
		file  bool  // whether the body is in a file
	}{
		{"empty", nil, 0, false},
		{"one byte", []int{1}, 0, false},
		{"many parts", []int{1000, 2000, 100_000, 1}, 0, false},
		{"limit of a spool", []int{MaxInMemory}, 0, false},
		{"limit of a spool in two parts", []int{1000, MaxInMemory - 1000}, 0, false},
		{"more than the limit", []int{MaxInMemory + 1}, 0, true},
		{"more than the limit in two parts", []int{MaxInMemory, 1}, 0, true},
		{"much more in small parts", []int{200_000, 200_000, 1, 200_000}, 0, true},
		{"full memory", []int{1}, maxMemory, true},
		{"little memory", []int{2000, 2000}, maxMemory - 3000, true},
		{"enough memory to grow", []int{2000, 2000}, maxMemory - 4096, false},
	} {
		for _, write := range []bool{true, false} {
			if !a.memory.Reserve(c.used) {
				t.Fatal("no memory")
			}
			s := a.Spool("label")
			var want bytes.Buffer
			for i, n := range c.parts {
				part := bytes.Repeat([]byte{byte('a' + i)}, n)
				want.Write(part)
				var got int64
				var err error
				if write {
					var n int
					n, err = s.Write(part)
					got = int64(n)
				} else {
					got, err = s.ReadFrom(io.MultiReader(bytes.NewReader(part[:n/2]), bytes.NewReader(part[n/2:])))
				}
				if got != int64(n) || err != nil {
					t.Errorf("%s: %d of %d bytes, error %v", c.name, got, n, err)
				}
			}
			if s.Size() != int64(want.Len()) || s.Sum() != sha256.Sum256(want.Bytes()) {
				t.Errorf("%s: size %d, sum %x", c.name, s.Size(), s.Sum())
			}
			for range 2 {
				r, err := s.Reader()
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(r); !bytes.Equal(got, want.Bytes()) || err != nil {
					t.Errorf("%s: read %d bytes, error %v", c.name, len(got), err)
				}
			}
			files, err := os.ReadDir(filepath.Join(dir, tree.Tmp))
			if inFile := len(files) > 0; err != nil || write && inFile != c.file {
				t.Errorf("%s: in a file: %t, want %t; error %v", c.name, inFile, c.file, err)
			}
			if used := a.memory.used.Load() - c.used; used > MaxInMemory || used < int64(want.Len()) != (len(files) > 0 && want.Len() > 0) {
				t.Errorf("%s: %d bytes of memory for a body of %d bytes", c.name, used, want.Len())
			}
			s.Free()
			if files, _ := os.ReadDir(filepath.Join(dir, tree.Tmp)); len(files) > 0 || s.Size() != 0 || a.memory.used.Load() != c.used {
				t.Errorf("%s: after Free: %d files, size %d, %d bytes of memory", c.name, len(files), s.Size(), a.memory.used.Load()-c.used)
			}
			a.memory.Free(c.used)
		}
	}
}

// TestSpoolSpace checks that a large body is written only while the disk has space.
func TestSpoolSpace(t *testing.T) {
	t.Parallel()
	a := openArchive(t, t.TempDir(), Options{Tree: true, MinFree: 1 << 62, Now: time.Now})
	defer closeArchive(t, a)
	for _, c := range []struct {
		name  string
		parts []int
		err   error // error of the last part
	}{
		{"in memory", []int{MaxInMemory}, nil},
		{"before the first check", []int{MaxInMemory, spaceCheckInterval - MaxInMemory - 1}, nil},
		{"at the first check", []int{MaxInMemory, spaceCheckInterval - MaxInMemory}, fetch.DiskFull},
		{"after the first check", []int{MaxInMemory, spaceCheckInterval}, fetch.DiskFull},
	} {
		s := a.Spool("label")
		for i, n := range c.parts {
			_, err := s.Write(make([]byte, n))
			if last := i == len(c.parts)-1; last && (!errors.Is(err, c.err) || (err == nil) != (c.err == nil)) || !last && err != nil {
				t.Errorf("%s: part %d: error %v, want %v", c.name, i, err, c.err)
			}
		}
		s.Free()
	}
}

// TestReadFromError checks that ReadFrom keeps the bytes before an error.
func TestReadFromError(t *testing.T) {
	t.Parallel()
	a := openArchive(t, t.TempDir(), Options{Tree: true, Now: time.Now})
	defer closeArchive(t, a)
	for _, n := range []int{0, 10, MaxInMemory, MaxInMemory + 10} {
		s := a.Spool("label")
		got, err := s.ReadFrom(io.MultiReader(strings.NewReader(strings.Repeat("x", n)), failingReader{}))
		if got != int64(n) || s.Size() != int64(n) || err != io.ErrClosedPipe {
			t.Errorf("%d bytes before the error: got %d, size %d, error %v", n, got, s.Size(), err)
		}
		s.Free()
	}
}

// A failingReader returns an error.
type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
