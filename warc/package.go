package warc

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// maxDirectory is the maximum size in bytes of the list of parts in a WACZ file,
// which the zip package keeps in memory. It suffices for about 35,000 parts.
// Crawls of a terabyte have about a thousand.
const maxDirectory = 4 << 20

// A packageFile is an open WACZ file.
type packageFile struct {
	*zip.Reader
	io.Closer
	size int64 // size of the WACZ file in bytes
}

// openPackage opens the WACZ file with the given name and checks that its parts
// do not overlap. If the file is damaged, the error wraps fetch.Mismatch.
func openPackage(name string) (packageFile, error) {
	f, err := regularfile.Open(name)
	if err != nil {
		return packageFile{}, err
	}
	z, err := readPackage(f)
	if pathErr := (*fs.PathError)(nil); err != nil && !errors.As(err, &pathErr) {
		err = fetch.Mismatch.Errorf("not a WACZ file: %w", err)
	}
	if err != nil {
		f.Close()
	}
	return z, err
}

func readPackage(f *os.File) (packageFile, error) {
	info, err := f.Stat()
	if err != nil {
		return packageFile{}, err
	}
	in := &limitedReaderAt{ReaderAt: f, remaining: maxDirectory, limited: true}
	z, err := zip.NewReader(in, info.Size())
	if in.limited = false; err == nil {
		err = checkOverlap(z.File, info.Size())
	}
	return packageFile{z, f, info.Size()}, err
}

// A limitedReaderAt returns an error after it has read the remaining number of
// bytes, as long as limited is true. It is not safe for concurrent use until
// limited is false.
type limitedReaderAt struct {
	io.ReaderAt
	remaining int64
	limited   bool
}

func (r *limitedReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if r.limited {
		if r.remaining -= int64(len(p)); r.remaining < 0 {
			return 0, fetch.TooLarge.Errorf("the list of its parts is larger than %d bytes", maxDirectory)
		}
	}
	return r.ReaderAt.ReadAt(p, offset)
}
