package archive

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/warc"
)

// index gathers the lines of the WARC file that is being written, so that the
// file need not be read again. They count only if this process has written all
// of the file.
type index struct {
	file     string
	complete bool
	lines    warc.Sorter
}

// close writes the lines of a file that is finished.
func (x *index) close(root *os.Root) error {
	defer x.lines.Close()
	if !x.complete {
		return nil
	}
	return replace(root, indexOf(x.file), func(w io.Writer) error {
		for line, err := range x.lines.Sorted() {
			if err == nil {
				_, err = w.Write(line)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// indexOf names the file with the lines of one WARC file.
func indexOf(name string) string {
	return "index/" + strings.TrimSuffix(filepath.Base(name), ".warc.gz") + ".cdxj"
}

// reindex writes index/all.cdxj. The lines of a finished WARC file never
// change: each file has its own index, which is made once.
func reindex(root *os.Root, dir string) error {
	names, _, err := warcFiles(root, "*.warc.gz")
	if err != nil {
		return err
	}
	var parts []string
	for _, name := range names {
		part := indexOf(name)
		parts = append(parts, part)
		if newer(root, part, name) {
			continue
		}
		err := replace(root, part, func(w io.Writer) error { return warc.Index(w, filepath.Join(dir, name)) })
		if err != nil {
			return err
		}
	}
	return replace(root, indexFile, func(w io.Writer) error { return merge(w, root, parts) })
}

// warcFiles lists the regular files of the folder warc that match pattern, and
// the others. A link could lead to a file that is not of this archive.
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

// filesIn returns the files of folder that match pattern. The folder may be
// missing.
func filesIn(root *os.Root, folder, pattern string) ([]string, error) {
	if err := regularfile.CheckFolder(root, folder); err != nil {
		return nil, err
	}
	return fs.Glob(root.FS(), folder+"/"+pattern)
}

// newer reports whether a was written after b.
func newer(root *os.Root, a, b string) bool {
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
	return warc.Merge(w, files...)
}
