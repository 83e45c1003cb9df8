package warc

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/linesort"
)

// isIndex reports whether a part of a WACZ file is an index.
func isIndex(name string) bool {
	dir, name := path.Split(name)
	return dir == "indexes/" && name != "" && !strings.HasSuffix(name, ".idx")
}

// openIndexPart opens an index in a WACZ file and decompresses it.
func openIndexPart(part *zip.File) (io.ReadCloser, error) {
	f, err := part.Open()
	if err != nil || !strings.HasSuffix(part.Name, ".gz") {
		return f, err
	}
	in, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return readCloser{in, f}, nil
}

// maxRatio limits the decompressed size of the indexes in a WACZ file. The
// limit is maxRatio times the size of the WACZ file.
const maxRatio = 100

// indexLines returns the lines of an index without line breaks, except lines
// with metadata. It subtracts the size of all lines from limit, and returns an
// error if the limit is exceeded. The parameter name is the name of the index in
// this error.
func indexLines(in io.Reader, name string, limit *int64) linesort.Lines {
	return func(yield func([]byte, error) bool) {
		for text, err := range linesort.Read(in) {
			var fault fetch.Fault
			switch {
			case err == nil:
				*limit -= int64(len(text))
			case !errors.As(err, &fault):
				err = fetch.Mismatch.With(err)
			}
			if err == nil && *limit < 0 {
				err = fetch.Bomb.Errorf("part %q: the indexes expand to more than %d times the size of the WACZ file",
					name, maxRatio)
			}
			if err == nil && text[0] == '!' { // a line with metadata
				continue
			}
			if !yield(bytes.TrimSuffix(text, []byte{'\n'}), err) || err != nil {
				return
			}
		}
	}
}
