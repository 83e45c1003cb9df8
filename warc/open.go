package warc

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/base/tempfile"
	"github.com/anyurl/fetch/internal/format/linesort"
)

// Open opens WARC and WACZ files for replay. A path can also be a directory.
// Open then uses the WARC files in the directory and in its subdirectories
// "warc" and "archive". Files of different directories can have the same name.
// Symbolic links in the directory are not followed. If a subdirectory is a link, Open
// returns an error.
//
// Open reads all WARC files to build an index, unless an index exists. Memory
// use is constant. Open uses the index in a WACZ file. If the only path is a
// directory, Open uses the file index/all.cdxj in it, provided that this index
// is newer than all WARC files.
//
// If the files contain no captures and the first one is damaged at its start,
// Open returns the [*Error], because the file is probably no WARC file.
func Open(paths ...string) (*Archive, error) {
	return open(func(o *opener) error { return o.open(paths) })
}

// An opener builds the index and the sections of an Archive.
type opener struct {
	archive *Archive
	lines   linesort.Sorter
}

// open returns the Archive whose index and sections add adds.
func open(add func(*opener) error) (*Archive, error) {
	o := &opener{archive: &Archive{
		sections: map[string]section{},
		readers:  &sync.Pool{New: func() any { return &Reader{src: allocateSource(replayBuffer)} }},

		dictionaries: &dictionaryCache{},
	}}
	defer o.lines.Close()
	if err := add(o); err != nil {
		o.archive.Close()
		return nil, fetch.LocalError(err)
	}
	return o.archive, nil
}

func (o *opener) open(paths []string) error {
	for _, name := range paths {
		files, err := filesOf(name)
		if err != nil {
			return err
		}
		if index := filepath.Join(name, "index", "all.cdxj"); len(paths) == 1 && isCurrent(index, files) {
			return o.useIndex(index, files)
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".wacz") {
				err = o.addPackage(file)
			} else {
				err = o.addFile(file)
			}
			if err != nil {
				return err
			}
		}
	}
	return o.storeIndex()
}

// filesOf returns the paths of the files that Open reads for a path. It follows no
// symbolic links in a directory, which could lead to files of another archive.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	files, err := regularfile.FilesIn(name, IsFileName, ".", "warc", "archive")
	if err == nil && len(files) == 0 {
		err = fetch.NotFound.Errorf("%s contains no WARC files", name)
	}
	return files, err
}

// isCurrent reports whether index is newer than all WARC files and no WARC file
// is unfinished. It returns false if the index or its directory is a symbolic
// link.
func isCurrent(index string, files []string) bool {
	if folder, err := os.Lstat(filepath.Dir(index)); err != nil || !folder.IsDir() {
		return false
	}
	indexInfo, err := os.Lstat(index)
	if err != nil || !indexInfo.Mode().IsRegular() {
		return false
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.ModTime().After(indexInfo.ModTime()) || strings.HasSuffix(file, OpenSuffix) {
			return false
		}
	}
	return true
}

// useIndex opens an existing index file, so that the WARC files need not be
// read.
func (o *opener) useIndex(index string, files []string) (err error) {
	for _, file := range files {
		if err := o.addSection(filepath.Base(file), completeFile(file)); err != nil {
			return err
		}
	}
	f, err := regularfile.Open(index)
	if err != nil {
		return err
	}
	a := o.archive
	a.index, a.file, a.probes = f, f, &probeCache{}
	a.size, err = f.Seek(0, io.SeekEnd)
	return err
}

// addSection stores the location of a WARC file under its base name.
func (o *opener) addSection(name string, where section) error {
	if other, ok := o.archive.sections[name]; ok && other.path != where.path {
		return fetch.Usage.Errorf("%s and %s both contain %q: open them separately", other.path, where.path, name)
	}
	o.archive.sections[name] = where
	return nil
}

// addFile adds a WARC file and its captures. Files of two archives can have the
// same name, because it consists of a time and the name of the machine.
func (o *opener) addFile(file string) error {
	name := o.unusedName(file)
	if err := o.addSection(name, completeFile(file)); err != nil {
		return err
	}
	return o.index(name)
}

// unusedName returns the base name of a WARC file. If another file has this
// name, it inserts a number before the extension.
func (o *opener) unusedName(file string) string {
	name := filepath.Base(file)
	stem, extension := name, ""
	if i := max(strings.LastIndex(name, ".warc"), strings.LastIndex(name, ".arc")); i >= 0 {
		stem, extension = name[:i], name[i:]
	}
	for n := 2; ; n++ {
		if other, ok := o.archive.sections[name]; !ok || other.path == file {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, n, extension)
	}
}

// index reads a WARC file and adds a line for each capture to the index.
func (o *opener) index(name string) error {
	where := o.archive.sections[name]
	in, err := where.stream()
	if err != nil {
		return err
	}
	defer in.Close()
	damaged, err := addLinesOf(&o.lines, name, where.path, in)
	o.archive.Damaged = append(o.archive.Damaged, damaged[:min(len(damaged), maxDamaged-len(o.archive.Damaged))]...)
	return err
}

// maxDamaged is the maximum number of damaged positions that are kept in memory.
// A forged file can have millions.
const maxDamaged = 10_000

// addLinesOf adds the index lines of a WARC file to lines, and returns the first
// maxDamaged damaged positions. The parameter name is the file name in the lines.
func addLinesOf(lines *linesort.Sorter, name, path string, in io.Reader) (damaged []*Error, err error) {
	for line, err := range Lines(name, in) {
		var damage *Error
		switch {
		case err == nil:
			err = lines.Add(line.append(nil))
		case errors.As(err, &damage):
			damage.File = path
			if len(damaged) < maxDamaged {
				damaged = append(damaged, damage)
			}
			err = nil
		}
		if err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

// addPackage adds the WARC files in a WACZ file. It returns an error for a WARC
// file that the zip format compresses, because records in it cannot be read
// directly.
func (o *opener) addPackage(file string) error {
	z, err := openPackage(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer z.Close()
	o.archive.packages = append(o.archive.packages, file)
	var names []string
	seen, indexed := map[string]bool{}, false
	limit := maxRatio * z.size
	for _, part := range z.File {
		name, isWARC := warcPart(part)
		switch {
		case isWARC:
			if seen[name] {
				return fetch.Mismatch.Errorf("%s: duplicate part %q", file, part.Name)
			}
			at, err := part.DataOffset()
			if err != nil || part.Method != zip.Store || part.CompressedSize64 > 1<<60 {
				return fetch.Unsupported.Errorf("%s: part %q is compressed by the zip format, which is not supported",
					file, part.Name)
			}
			if err := o.addSection(name, section{path: file, offset: at, size: int64(part.CompressedSize64)}); err != nil {
				return err
			}
			seen[name] = true
			names = append(names, name)
		case isIndex(part.Name):
			if err := o.addIndex(file, part, &limit); err != nil {
				return err
			}
			indexed = true
		}
	}
	if indexed {
		return nil
	}
	for _, name := range names {
		if err := o.index(name); err != nil {
			return err
		}
	}
	return nil
}

// checkOverlap returns an error if parts of a WACZ file overlap. A small file
// with overlapping parts could expand to a large amount of data. The parameter
// size is the size of the WACZ file in bytes.
func checkOverlap(parts []*zip.File, size int64) error {
	remaining := uint64(size)
	for _, part := range parts {
		if part.CompressedSize64 > remaining {
			return fetch.Mismatch.Errorf("parts of the WACZ file overlap: they have more bytes than the file")
		}
		remaining -= part.CompressedSize64
	}
	return nil
}

// addIndex adds the lines of an index in a WACZ file. It subtracts the size of
// the lines from limit, and returns an error if the limit is exceeded.
func (o *opener) addIndex(file string, part *zip.File, limit *int64) error {
	in, err := openIndexPart(part)
	if err != nil {
		return fetch.Mismatch.With(err)
	}
	defer in.Close()
	return o.addLines(in, file+"/"+part.Name, limit)
}

// addLines adds the lines of an index. It skips invalid lines and adds the first
// of them to Archive.Damaged. The parameters have the same meaning as in
// indexLines.
func (o *opener) addLines(in io.Reader, name string, limit *int64) error {
	initial, damaged := *limit, false
	for text, err := range indexLines(in, name, limit) {
		if err != nil {
			return err
		}
		l, err := ParseLine(string(text))
		switch {
		case err == nil:
			if err := o.lines.Add(withOwnKey(text, l)); err != nil {
				return err
			}
		case !damaged && len(o.archive.Damaged) < maxDamaged:
			damaged = true
			start := initial - *limit - int64(len(text)) - 1
			o.archive.Damaged = append(o.archive.Damaged, &Error{File: name, Offset: start, Err: err})
		}
	}
	return nil
}

// withOwnKey replaces the key of an index line by the result of Key. Other
// programs compute other keys. For example, py-wacz removes the slash at the end
// of a path. The parameter l is the parsed line. The result is line if it has no
// URL or has a key of a request with a body, which pywb writes.
func withOwnKey(line []byte, l Line) []byte {
	if l.URL == "" || strings.Contains(l.Key, methodKey) {
		return line
	}
	key := escape(Key(l.URL), " ")
	if key == l.Key {
		return line
	}
	return append([]byte(key), line[len(l.Key):]...)
}

// storeIndex stores the sorted index. A small index is stored in memory and a
// large index in a temporary file.
func (o *opener) storeIndex() (err error) {
	a := o.archive
	a.probes = &probeCache{}
	if o.lines.InMemory() && o.lines.Size() == 0 && len(a.Damaged) > 0 && a.Damaged[0].Offset == 0 {
		return a.Damaged[0] // probably not a WARC file
	}
	if o.lines.InMemory() {
		var b bytes.Buffer
		err = linesort.Write(&b, o.lines.Sorted())
		a.index, a.size = bytes.NewReader(b.Bytes()), int64(b.Len())
		return err
	}
	f, err := tempfile.Create("", "fetch-index-*")
	if err != nil {
		return err
	}
	a.index, a.file = f, f
	if err = linesort.Write(f, o.lines.Sorted()); err != nil {
		return err
	}
	a.size, err = f.Seek(0, io.SeekEnd)
	return err
}
