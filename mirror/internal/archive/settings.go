package archive

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// WriteReport replaces the report about the last run. The functions write the
// JSON form and the text form. Their names are on the disk before the run ends in
// the database, because a shared crawl that has ended writes no further report.
func (a *Archive) WriteReport(json, text func(io.Writer) error) error {
	err := replaceFile(a.folder.root, reportJSON, json)
	return Classify(errors.Join(err, replaceFile(a.folder.root, reportText, text), syncFolders(a.folder.root, ".")))
}

// WriteOptions stores the options of a run for ReadOptions. It replaces the
// options of the previous run.
func (a *Archive) WriteOptions(text []byte) error {
	return Classify(replaceFile(a.folder.root, optionsFile, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}))
}

// MaxOptions is the maximum size in bytes of the stored options.
const MaxOptions = 8 << 20

// ReadOptions returns the stored options of the last run of the archive in the
// directory dir. If the directory has no stored options, the error wraps
// fs.ErrNotExist.
func ReadOptions(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, Classify(err)
	}
	defer root.Close()
	if info, err := root.Lstat(optionsFile); err == nil && !info.Mode().IsRegular() {
		return nil, fetch.Local.Errorf("%s is not a regular file", optionsFile)
	}
	text, err := readStart(root, optionsFile, MaxOptions+1)
	if err == nil && len(text) > MaxOptions {
		err = fetch.TooLarge.Errorf("%s is larger than %d bytes", optionsFile, MaxOptions)
	}
	return text, Classify(err)
}

// Forms reports whether the archive in the directory dir has WARC files, and
// whether it has a tree. A missing directory has neither.
func Forms(dir string) (hasRecords, hasTree bool, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, Classify(err)
	}
	defer root.Close()
	info, err := root.Lstat(tree.Dir)
	hasTree = err == nil && info.IsDir()
	names, _, err := warcFiles(root, "*")
	return slices.ContainsFunc(names, warc.IsFileName), hasTree, Classify(err)
}
