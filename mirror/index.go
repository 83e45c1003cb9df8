package mirror

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/warc"
)

// index gathers the lines of the WARC file that is being written, so that the
// file need not be read again. They count only if this process has written all
// of it; else the file itself tells.
type index struct {
	file  string
	whole bool
	lines warc.Sorter
}

// add takes the lines of a group.
func (m *mirror) add(places []warc.Place) error {
	for _, p := range places {
		if p.File != m.index.file {
			if err := m.closeIndex(); err != nil {
				return err
			}
			_, known := m.safe[p.File]
			m.index = &index{file: p.File, whole: !known}
		}
		if p.Line.Key == "" || !m.index.whole {
			continue
		}
		if err := m.index.lines.Add([]byte(p.Line.String())); err != nil {
			return err
		}
	}
	return nil
}

// closeIndex writes the lines of a file that is finished.
func (m *mirror) closeIndex() error {
	x := m.index
	m.index = &index{}
	defer x.lines.Close()
	if !x.whole {
		return nil
	}
	return whole(m.root, partOf(x.file), func(w io.Writer) error {
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

// partOf is where the lines of a WARC file lie.
func partOf(name string) string {
	return "index/" + strings.TrimSuffix(filepath.Base(name), ".warc.gz") + ".cdxj"
}

// reindex writes index/all.cdxj. The lines of a WARC that is finished never
// change: they are made once, and lie beside.
func reindex(root *os.Root, dir string) error {
	names, _, err := warcFiles(root, "*.warc.gz")
	if err != nil {
		return err
	}
	var parts []string
	for _, name := range names {
		part := partOf(name)
		parts = append(parts, part)
		if fresh(root, part, name) {
			continue
		}
		err := whole(root, part, func(w io.Writer) error { return warc.Index(w, filepath.Join(dir, name)) })
		if err != nil {
			return err
		}
	}
	return whole(root, indexFile, func(w io.Writer) error { return merge(w, root, parts) })
}

// warcFiles lists the regular files of the folder warc that match pattern, and
// the others. A link could lead to a file that is not of this archive.
func warcFiles(root *os.Root, pattern string) (names, others []string, err error) {
	found, err := fs.Glob(root.FS(), warcs+"/"+pattern)
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

// fresh reports whether a was written after b.
func fresh(root *os.Root, a, b string) bool {
	at, err := root.Stat(a)
	bt, err2 := root.Stat(b)
	return err == nil && err2 == nil && at.ModTime().After(bt.ModTime())
}

func merge(w io.Writer, root *os.Root, names []string) (err error) {
	files := make([]io.Reader, 0, len(names))
	for _, name := range names {
		f, open := root.Open(name)
		if open != nil {
			return errors.Join(err, open)
		}
		defer f.Close()
		files = append(files, f)
	}
	return warc.Merge(w, files...)
}
