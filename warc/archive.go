package warc

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/linesort"
)

// An Archive replays the captures of WARC and WACZ files. It is safe for
// concurrent use. The caller must close it.
type Archive struct {
	// Time selects a capture if the archive has several captures of a URL.
	// Replay uses the capture nearest to Time. If Until is later than Time, the
	// period from Time to Until takes the place of Time: replay uses the latest
	// capture in the period, or else the capture nearest to it. If Time is
	// zero, replay uses the latest capture. The index stores dates in whole
	// seconds. These fields must not change while the Archive is in use.
	Time, Until time.Time

	// If Decode is true, replay decodes the content codings of HTTP bodies,
	// such as gzip. Otherwise bodies keep the codings that the server used.
	Decode bool

	// If Raw is true, replay returns HTTP bodies exactly as they are recorded.
	// It removes neither a recorded transfer coding nor content codings.
	Raw bool

	// If Similar is true, replay answers a request that has no capture with the
	// capture of a similar request: one with the same method, path and names of
	// parameters. Scripts send parameters such as the current time.
	Similar bool

	// Damaged lists the first 10,000 damaged positions that Open found. All
	// other records can be replayed.
	Damaged []*Error

	sortedLines
	file     io.Closer          // file with the index, or nil if the index is in memory
	sections map[string]section // keyed by the base name of the WARC file
	packages []string           // paths of the WACZ files
	readers  *sync.Pool         // pool of *Reader, used by openRecord

	dictionaries *dictionaryCache
}

// A section is a byte range that contains one WARC file. It is a complete file,
// or a part of a WACZ file, which can have several sections.
type section struct {
	path         string
	offset, size int64
	fsys         fs.FS // file system of path, or nil for the local file system
}

// completeFile returns a section for all bytes of the WARC file at path.
func completeFile(path string) section { return section{path: path, size: 1 << 62} }

// open opens the section for reading. The caller must close the returned file.
func (s section) open() (*io.SectionReader, io.Closer, error) {
	if s.fsys != nil {
		f, err := s.fsys.Open(s.path)
		if err != nil {
			return nil, nil, err
		}
		r, ok := f.(io.ReaderAt)
		if !ok {
			return nil, nil, errors.Join(fetch.Usage.Errorf("%s cannot be read by ranges", s.path), f.Close())
		}
		return io.NewSectionReader(r, s.offset, s.size), f, nil
	}
	f, err := regularfile.Open(s.path)
	if err != nil {
		return nil, nil, fetch.LocalError(err)
	}
	return io.NewSectionReader(f, s.offset, s.size), f, nil
}

// Close closes the index and removes temporary files. Response bodies that are
// still open remain readable.
func (a *Archive) Close() error {
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return fetch.LocalError(err)
}

// lines returns the lines of the index, sorted by key and time. The sequence
// ends after the first error.
func (a *Archive) lines() iter.Seq2[Line, error] {
	return parseLines(linesort.Read(io.NewSectionReader(a.index, 0, a.size)), 0)
}
