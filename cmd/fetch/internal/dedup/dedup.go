// Package dedup opens the index of captures that --dedup names.
package dedup

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tempfile"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Open opens a CDXJ index. The caller must call Close. The argument text is a file name, the directory
// of an archive, or a URL. An index at a URL is downloaded to a temporary file.
// A compressed index is decompressed to a temporary file.
func Open(ctx context.Context, client *fetch.Client, text string) (*warc.IndexFile, error) {
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
			return warc.OpenIndex(name)
		}
	case !strings.Contains(text, ":"):
		if name != localName(text) {
			err = fmt.Errorf("%w; a mirror has an index if it was made with --warc", err)
		}
		return nil, console.LocalError(err)
	default:
		resp, err := client.Get(ctx, text)
		if err != nil {
			return nil, err
		}
		in = resp.Body
	}
	defer in.Close()
	return copyIndex(in)
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
func copyIndex(in io.Reader) (*warc.IndexFile, error) {
	f, err := tempfile.Create("", "fetch-dedup-*")
	if err != nil {
		return nil, console.LocalError(err)
	}
	buffered := bufio.NewReader(in)
	in = buffered
	start, _ := buffered.Peek(4) // io.Copy reports the error
	if name := coding.Detect(start); name == "gzip" || name == "zstd" {
		in = coding.NewReader(io.NopCloser(buffered), []string{name}, nil)
	}
	size, err := io.Copy(f, in)
	if err != nil {
		f.Close()
		return nil, console.LocalError(err)
	}
	return warc.NewIndexFile(f, size)
}
