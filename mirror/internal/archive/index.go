package archive

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/anyurl/fetch/internal/base/parallel"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/linesort"
	"github.com/anyurl/fetch/warc"
)

// An index collects the index lines of the current WARC file, so that the file
// need not be read again. The lines are used only if this process has written
// all records of the file.
type index struct {
	file     string
	complete bool // if true, this process has written all records of the file
	lines    linesort.Sorter
}

// close writes the index of a finished WARC file.
func (x *index) close(root *os.Root) error {
	defer x.lines.Close()
	if !x.complete {
		return nil
	}
	return replaceFile(root, indexName(x.file), func(w io.Writer) error { return linesort.Write(w, x.lines.Sorted()) })
}

// indexName returns the name of the index file of a WARC file.
func indexName(name string) string {
	return indexFolder + "/" + strings.TrimSuffix(filepath.Base(name), ".warc.gz") + ".cdxj"
}

// reindex writes index/all.cdxj and returns the names of the index files of all
// WARC files. It writes the index file of a finished WARC file only once,
// unless rewrite is set, because finished WARC files do not change.
func reindex(root *os.Root, dir string, rewrite bool) (parts []string, err error) {
	names, _, err := warcFiles(root, "*.warc.gz")
	if err != nil {
		return nil, err
	}
	var old []string // files whose index must be written
	for _, name := range names {
		part := indexName(name)
		parts = append(parts, part)
		if rewrite || !isNewer(root, part, name) {
			old = append(old, name)
		}
	}
	errs := make([]error, len(old))
	parallel.Do(runtime.GOMAXPROCS(0), len(old), func(i int) {
		errs[i] = replaceFile(root, indexName(old[i]), func(w io.Writer) error { return indexReadable(w, filepath.Join(dir, old[i])) })
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := replaceFile(root, indexFile, func(w io.Writer) error { return merge(w, root, parts) }); err != nil {
		return nil, err
	}
	return parts, syncFolders(root, indexFolder)
}

// indexReadable writes the index of the intact records in WARC files.
func indexReadable(w io.Writer, names ...string) error {
	err := warc.Index(w, names...)
	if e := (*warc.Error)(nil); errors.As(err, &e) {
		return nil // Verify reports the damage, and w returns its own errors again
	}
	return err
}

// warcFiles returns the names in the directory warc that match pattern. It
// returns regular files in names and all other files in others, because a
// symbolic link could lead to a file outside the archive.
func warcFiles(root *os.Root, pattern string) (names, others []string, err error) {
	found, err := filesIn(root, warcFolder, pattern)
	for _, name := range found {
		info, err := root.Lstat(name)
		switch {
		case err != nil:
			return nil, nil, err
		case info.Mode().IsRegular():
			names = append(names, name)
		default:
			others = append(others, name)
		}
	}
	return names, others, err
}

// filesIn returns the names in a directory that match pattern. If the directory
// is missing, filesIn returns no names.
func filesIn(root *os.Root, folder, pattern string) ([]string, error) {
	if err := regularfile.CheckFolder(root, folder); err != nil {
		return nil, err
	}
	return fs.Glob(root.FS(), folder+"/"+pattern)
}

// isNewer reports whether the file a was modified after the file b. Both names
// are relative to root, and a must be a regular file.
func isNewer(root *os.Root, a, b string) bool {
	at, err := root.Stat(a)
	bt, err2 := root.Stat(b)
	return err == nil && err2 == nil && at.Mode().IsRegular() && at.ModTime().After(bt.ModTime())
}

func merge(w io.Writer, root *os.Root, names []string) (err error) {
	files := make([]io.Reader, 0, len(names))
	for _, name := range names {
		f, open := regularfile.OpenIn(root, name)
		if open != nil {
			return errors.Join(err, open)
		}
		defer f.Close()
		files = append(files, f)
	}
	return linesort.Merge(w, files...)
}
