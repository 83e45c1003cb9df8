package warc

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/regularfile"
)

// Open reads archives, which are named by path: files of this format, WACZ
// files, or a folder that has the former in itself, in "warc" or in "archive".
//
// They are indexed first, in flat memory, which takes as long as unpacking
// them. Of a WACZ file its own index counts and, where paths is a single folder
// with an index/all.cdxj that is younger than its archives, that.
func Open(paths ...string) (*Archive, error) {
	o := opener{archive: &Archive{places: map[string]place{}}}
	defer o.lines.Close()
	err := o.open(paths)
	if err != nil {
		o.archive.Close()
		return nil, local(err)
	}
	return o.archive, nil
}

// opener gathers what an Archive is made of.
type opener struct {
	archive *Archive
	lines   Sorter
}

func (o *opener) open(paths []string) error {
	for _, name := range paths {
		files, err := filesIn(name)
		if err != nil {
			return err
		}
		if index := filepath.Join(name, "index", "all.cdxj"); len(paths) == 1 && younger(index, files) {
			return o.trust(index, files)
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
	return o.store()
}

// filesIn lists name itself or, of a folder, the archives in it.
func filesIn(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	var files []string
	for _, dir := range []string{name, filepath.Join(name, "warc"), filepath.Join(name, "archive")} {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range list {
			if Is(e.Name()) && e.Type().IsRegular() {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	if len(files) == 0 {
		return nil, fetch.NotFound.Errorf("no archive in %s", name)
	}
	return files, nil
}

// younger reports whether index was written after all the files, and none of
// them is being written.
func younger(index string, files []string) bool {
	last, err := os.Lstat(index)
	if err != nil || !last.Mode().IsRegular() {
		return false
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.ModTime().After(last.ModTime()) || strings.HasSuffix(file, OpenSuffix) {
			return false
		}
	}
	return true
}

// trust takes an index as it is.
func (o *opener) trust(index string, files []string) (err error) {
	for _, file := range files {
		if err := o.placed(filepath.Base(file), whole(file)); err != nil {
			return err
		}
	}
	a := o.archive
	if a.file, err = regularfile.Open(index); err != nil {
		return err
	}
	a.index = a.file
	a.size, err = a.file.Seek(0, io.SeekEnd)
	return err
}

// placed notes where the archive of that name lies.
func (o *opener) placed(name string, where place) error {
	if other, ok := o.archive.places[name]; ok && other.path != where.path {
		return fetch.Usage.Errorf("%s and %s both hold %q", other.path, where.path, name)
	}
	o.archive.places[name] = where
	return nil
}

func (o *opener) addFile(file string) error {
	name := filepath.Base(file)
	if err := o.placed(name, whole(file)); err != nil {
		return err
	}
	return o.read(name)
}

// read indexes an archive that was placed.
func (o *opener) read(name string) error {
	where := o.archive.places[name]
	in, f, err := where.open()
	if err != nil {
		return err
	}
	defer f.Close()
	for line, err := range Lines(name, in) {
		var damage *Error
		switch {
		case err == nil:
			err = o.lines.Add(line.append(nil))
		case errors.As(err, &damage):
			damage.File = where.path
			o.archive.Damaged = append(o.archive.Damaged, damage)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addPackage adds the archives of a WACZ file, which must be stored in it as
// they are.
func (o *opener) addPackage(file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fetch.Mismatch.Errorf("%s is no WACZ file: %w", file, err)
	}
	defer z.Close()
	info, err := os.Stat(file)
	if err == nil {
		err = separate(z.File, info.Size())
	}
	if err != nil {
		return err
	}
	var names []string
	seen, indexed := map[string]bool{}, false
	limit := maxRatio * info.Size()
	for _, part := range z.File {
		dir, name := path.Split(part.Name)
		switch {
		case dir == "archive/" && Is(name):
			if seen[name] {
				return fetch.Mismatch.Errorf("%s: %q is there twice", file, part.Name)
			}
			at, err := part.DataOffset()
			if err != nil || part.Method != zip.Store || part.CompressedSize64 > 1<<60 {
				return fetch.Unsupported.Errorf("%s: %q is packed, and cannot be read in place", file, part.Name)
			}
			if err := o.placed(name, place{file, at, int64(part.CompressedSize64)}); err != nil {
				return err
			}
			seen[name] = true
			names = append(names, name)
		case dir == "indexes/" && !strings.HasSuffix(name, ".idx"):
			if err := o.addIndex(part, &limit); err != nil {
				return err
			}
			indexed = true
		}
	}
	if indexed {
		return nil
	}
	for _, name := range names {
		if err := o.read(name); err != nil {
			return err
		}
	}
	return nil
}

// separate returns an error if parts of a WACZ file of that size overlap: to read
// each would be to read the same bytes again and again.
func separate(parts []*zip.File, size int64) error {
	left := uint64(size)
	for _, part := range parts {
		if part.CompressedSize64 > left {
			return fetch.Mismatch.Errorf("the parts of the WACZ file have more bytes than it has: they overlap")
		}
		left -= part.CompressedSize64
	}
	return nil
}

// maxRatio bounds what the indexes in a WACZ file unpack to, in sizes of that.
const maxRatio = 100

// addIndex adds the lines of an index in a WACZ file. It takes their bytes from
// limit.
func (o *opener) addIndex(part *zip.File, limit *int64) error {
	f, err := part.Open()
	if err != nil {
		return fetch.Mismatch.With(err)
	}
	defer f.Close()
	in := io.Reader(f)
	if strings.HasSuffix(part.Name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return fetch.Mismatch.With(err)
		}
	}
	for text, err := range readLines(in) {
		if err != nil {
			return fetch.Mismatch.With(err)
		}
		if *limit -= int64(len(text)); *limit < 0 {
			return fetch.Bomb.Errorf("%q, with the indexes before it, unpacks to more than %d times the file", part.Name, maxRatio)
		}
		if text[0] == '!' { // of its format
			continue
		}
		if err := o.lines.Add(bytes.TrimSuffix(text, []byte{'\n'})); err != nil {
			return err
		}
	}
	return nil
}

// store keeps a small index in memory and a large one in a file.
func (o *opener) store() (err error) {
	a := o.archive
	if len(o.lines.files) == 0 {
		var b bytes.Buffer
		err = writeLines(&b, o.lines.Sorted())
		a.index, a.size = bytes.NewReader(b.Bytes()), int64(b.Len())
		return err
	}
	if a.file, err = os.CreateTemp("", "fetch-index-*"); err != nil {
		return err
	}
	a.index, a.temp = a.file, true
	if err = writeLines(a.file, o.lines.Sorted()); err != nil {
		return err
	}
	a.size, err = a.file.Seek(0, io.SeekEnd)
	return err
}
