package warc

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// indexSuffix ends the name of an index file, which contains the index lines of
// one WARC file.
const indexSuffix = ".cdxj"

// OpenFiles opens the WARC files with the given names in fsys for replay. A
// file can be an object in a remote store. The files must implement
// io.ReaderAt, and io.Seeker to continue after damage. OpenFiles ignores
// unfinished WARC files and files of other types.
//
// The index of the WARC file DIR/NAME is a file NAME.cdxj in any directory.
// OpenFiles reads all indexes, and completely reads the WARC files without an
// index. Replay reads only the records that it needs. Memory use is constant,
// except for the names. If all indexes together have more than 16 GiB, the error
// has the Fault [fetch.TooLarge].
func OpenFiles(fsys fs.FS, names ...string) (*Archive, error) {
	return open(func(o *opener) error { return o.openFiles(fsys, names, maxIndexes) })
}

// maxIndexes is the maximum total size of the indexes that OpenFiles copies to
// temporary files. It suffices for about 50 million captures.
const maxIndexes = 16 << 30

// openFiles adds the given files. The indexes may have limit bytes together.
func (o *opener) openFiles(fsys fs.FS, names []string, limit int64) error {
	remaining := limit
	indexes := map[string]string{} // keyed by the base name of the WARC file
	for _, name := range names {
		if base, ok := strings.CutSuffix(path.Base(name), indexSuffix); ok && IsFileName(base) {
			indexes[base] = name
		}
	}
	for _, name := range names {
		base := path.Base(name)
		if !IsFileName(base) || strings.HasSuffix(base, OpenSuffix) {
			continue
		}
		if err := o.addSection(base, section{path: name, size: 1 << 62, fsys: fsys}); err != nil {
			return err
		}
		var err error
		if index, ok := indexes[base]; ok {
			err = o.addIndexFile(fsys, index, &remaining)
			if remaining < 0 {
				return fetch.TooLarge.Errorf("%s: the indexes of the WARC files have more than %d bytes", index, limit)
			}
		} else {
			err = o.index(base)
		}
		if err != nil {
			return err
		}
	}
	if len(o.archive.sections) == 0 {
		return fetch.NotFound.Errorf("there are no WARC files")
	}
	return o.storeIndex()
}

// addIndexFile adds the lines of an index. It subtracts the bytes that it reads
// from remaining, and stops if the result is negative.
func (o *opener) addIndexFile(fsys fs.FS, name string, remaining *int64) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := &io.LimitedReader{R: f, N: *remaining + 1}
	limit := in.N
	err = o.addLines(in, name, &limit)
	if *remaining = in.N - 1; err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// recordBuffer is the maximum number of bytes that a read of a record requests
// from a remote file system.
const recordBuffer = 512 << 10

// readAhead returns a reader for a record that begins at the start of r and has
// length bytes. If the file is not local, the reader requests large blocks.
func (s section) readAhead(r *io.SectionReader, length int64) io.Reader {
	if s.fsys == nil {
		return r
	}
	return bufio.NewReaderSize(r, int(min(max(length, minReadSize), recordBuffer)))
}

// A streamFile is a section of a local file that is read from its beginning.
type streamFile struct {
	*io.SectionReader
	io.Closer
}

// stream opens the section for sequential reads from its beginning. A remote
// file system then does not receive a request for each block.
func (s section) stream() (io.ReadCloser, error) {
	if s.fsys == nil {
		in, f, err := s.open()
		return streamFile{in, f}, err
	}
	return s.fsys.Open(s.path)
}
