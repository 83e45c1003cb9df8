// Package dedup opens the index of captures that --dedup names.
package dedup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An Index is the CDXJ index that --dedup names. The zero value has no index.
type Index struct {
	*warc.IndexFile
	copied string // name of the copy, or ""
}

// Open opens a CDXJ index. The caller must call Close. The argument text is a file name, the directory
// of an archive, or a URL. An index at a URL is downloaded to a temporary file.
// A compressed index is decompressed to a temporary file.
func Open(ctx context.Context, client *fetch.Client, text string) (x Index, err error) {
	name := localName(text)
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "index", "all.cdxj")
	}
	var in io.ReadCloser
	f, err := os.Open(name)
	switch {
	case err == nil:
		in = f
		if !isCompressed(f) {
			f.Close()
			x.IndexFile, err = warc.OpenIndex(name)
			return x, err
		}
	case !strings.Contains(text, ":"):
		if name != localName(text) {
			err = fmt.Errorf("%w; a mirror has an index if it was made with --warc", err)
		}
		return x, console.LocalError(err)
	default:
		resp, err := client.Get(ctx, text)
		if err != nil {
			return x, err
		}
		in = resp.Body
	}
	defer in.Close()
	if x.copied, err = copyIndex(in); err == nil {
		x.IndexFile, err = warc.OpenIndex(x.copied)
	}
	if err != nil {
		x.Close()
	}
	return x, err
}

// localName returns the file name for a file URL, because a local index need not
// be copied. It returns other text unchanged.
func localName(text string) string {
	u, err := uri.Parse(text)
	if err != nil || u.Scheme() != "file" || u.Host() != "" || runtime.GOOS == "windows" {
		return text
	}
	name, err := uri.Unescape(u.Path())
	if err != nil {
		return text
	}
	return name
}

// isCompressed reports whether f is compressed. It does not change the position
// of f.
func isCompressed(f *os.File) bool {
	start := make([]byte, 4)
	n, _ := f.ReadAt(start, 0) // a later read reports the error
	return coding.Detect(start[:n]) != ""
}

// copyIndex copies an index to a temporary file and decompresses it.
func copyIndex(in io.Reader) (name string, err error) {
	f, err := os.CreateTemp("", "fetch-dedup-*")
	if err != nil {
		return "", console.LocalError(err)
	}
	buffered := bufio.NewReader(in)
	in = buffered
	start, _ := buffered.Peek(4) // io.Copy reports the error
	if name := coding.Detect(start); name == "gzip" || name == "zstd" {
		in = coding.NewReader(io.NopCloser(buffered), []string{name}, nil)
	}
	_, err = io.Copy(f, in)
	return f.Name(), console.LocalError(errors.Join(err, f.Close()))
}

// Close closes the index, and removes the copy of an index that was downloaded or
// decompressed.
func (x *Index) Close() error {
	var err error
	if x.IndexFile != nil {
		err = x.IndexFile.Close()
	}
	if x.copied != "" {
		err = errors.Join(err, os.Remove(x.copied))
	}
	return console.LocalError(err)
}
