package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/warc"
)

// A records value writes the WARC files of an archive. It can remove records
// that were appended but not committed.
type records struct {
	root    *os.Root // directory of the archive
	dir     *os.Root // directory of the WARC files
	w       *warc.Writer
	maxSize int64 // size in bytes at which a file is finished
	age     fileAge
	current string // name of the file to which the next group is appended, or "" for a new file

	finished func(name string, size int64) // called for each finished file; may be nil

	withoutIndex bool // if true, no index is written, because the files leave the directory

	index     *index           // index of the current file
	ends      map[string]int64 // end of the last record in each file that the current batch has changed
	committed map[string]int64 // end of the last committed record in each file
	changed   map[string]bool  // set of the files that this process has changed
}

// A fileAge limits the age of a WARC file.
type fileAge struct {
	limit  time.Duration // age at which a file is finished; 0 means no limit
	now    func() time.Time
	opened time.Time // time at which this process created or opened the current file
}

// reached reports whether the current file has reached its maximum age.
func (a *fileAge) reached() bool { return a.limit > 0 && a.now().Sub(a.opened) >= a.limit }

// A Truncation describes the uncommitted records that Open removed from the end
// of a WARC file.
type Truncation struct {
	File   string
	Offset int64 // new size of the file, in bytes
	Size   int64 // number of removed bytes
}

// openRecords opens the WARC files for appending and removes uncommitted
// records from their ends. The map committed contains the end of the last
// committed record in each file.
func openRecords(
	root *os.Root, o warc.Options, age fileAge, committed map[string]int64,
) (r *records, truncations []Truncation, err error) {
	if err := errors.Join(regularfile.CheckFolder(root, warcFolder), root.MkdirAll(warcFolder, 0o777)); err != nil {
		return nil, nil, err
	}
	r = &records{
		root: root, maxSize: o.MaxSize, index: &index{}, ends: map[string]int64{}, committed: committed,
		changed: map[string]bool{}, age: age,
	}
	if r.maxSize <= 0 {
		r.maxSize = warc.DefaultMaxSize
	}
	o.MaxSize = math.MaxInt64 // markCommitted finishes files
	if r.dir, err = root.OpenRoot(warcFolder); err != nil {
		return nil, nil, err
	}
	if r.w, err = warc.NewWriter(r.dir, o); err == nil {
		truncations, err = r.resume()
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.close())
	}
	return r, truncations, nil
}

// resume removes uncommitted records from the ends of the unfinished files.
func (r *records) resume() (truncations []Truncation, err error) {
	entries, err := fs.ReadDir(r.dir.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, open := strings.CutSuffix(e.Name(), warc.OpenSuffix)
		if !open || !warc.IsFileName(name) {
			continue
		}
		info, err := r.dir.Lstat(e.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		end := r.committed[name]
		err = r.w.Resume(name, end)
		if err == nil && end > 0 {
			r.setCurrent(name)
		}
		if errors.Is(err, fetch.Mismatch) { // the first record is damaged
			err = r.finishDamaged(name, end)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if more := info.Size() - end; more > 0 {
			truncations = append(truncations, Truncation{name, end, more})
		}
	}
	return truncations, nil
}

// finishDamaged truncates an unfinished file at the offset end and gives it its
// final name. No more records are appended, because the file has no readable
// warcinfo record.
func (r *records) finishDamaged(name string, end int64) error {
	f, err := regularfile.OpenFileIn(r.dir, name+warc.OpenSuffix, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(end), f.Sync(), f.Close()); err != nil {
		return err
	}
	return r.dir.Rename(name+warc.OpenSuffix, name)
}

// write appends the records to the current WARC file as a group.
func (r *records) write(group []*warc.Record) ([]warc.Position, error) {
	positions, err := r.w.Write(group...)
	if err != nil {
		return nil, err
	}
	for _, p := range positions {
		r.ends[p.File] = max(r.ends[p.File], p.End())
		r.setCurrent(p.File)
	}
	return positions, r.addLines(positions)
}

// setCurrent sets the current file. If another file was current before,
// setCurrent also records the time.
func (r *records) setCurrent(name string) {
	if name != r.current {
		r.current, r.age.opened = name, r.age.now()
	}
}

// addLines adds the index lines of a group to the index of the WARC file.
func (r *records) addLines(positions []warc.Position) error {
	if r.withoutIndex {
		return nil
	}
	for _, p := range positions {
		if p.File != r.index.file {
			if err := r.closeIndex(); err != nil {
				return err
			}
			_, known := r.committed[p.File]
			r.index = &index{file: p.File, complete: !known}
		}
		if p.Line.Key == "" || !r.index.complete {
			continue
		}
		if err := r.index.lines.Add([]byte(p.Line.String())); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) closeIndex() error {
	x := r.index
	r.index = &index{}
	return x.close(r.root)
}

// rewind removes the records of the current batch after a failed commit.
func (r *records) rewind() (err error) {
	for name := range r.ends {
		err = errors.Join(err, r.w.Resume(name, r.committed[name]))
		if r.committed[name] == 0 { // the batch has written to the current file only
			r.current = ""
		}
	}
	clear(r.ends)
	r.index.complete = false // the index contains lines of removed records
	if err != nil {
		err = errors.Join(err, r.abandon())
	}
	return err
}

// abandon closes the current WARC file without the records of the current batch.
// The next run removes those that were not committed.
func (r *records) abandon() error {
	clear(r.ends)
	r.index.complete = false
	r.current = ""
	return r.w.Abandon()
}

// markCommitted stores the new sizes of the WARC files after a transaction. If
// a file has reached its maximum size or age, markCommitted finishes the
// current file. A finished file contains only committed records and is never
// truncated.
func (r *records) markCommitted() error {
	defer clear(r.ends)
	maps.Copy(r.committed, r.ends)
	for name := range r.ends {
		r.changed[name] = true
	}
	for _, end := range r.ends {
		if end >= r.maxSize || r.age.reached() {
			return r.rotate()
		}
	}
	return nil
}

// rotate finishes the current WARC file.
func (r *records) rotate() error {
	if err := r.w.Close(); err != nil {
		return err
	}
	name := r.current
	r.current = ""
	if size := r.committed[name]; size > 0 && r.finished != nil {
		r.finished(name, size)
	}
	return nil
}

// finish finishes the current WARC file and writes the index.
func (r *records) finish(dir string) error {
	err := r.rotate()
	if err == nil {
		err = r.closeIndex()
	}
	if err == nil && !r.withoutIndex {
		_, err = reindex(r.root, dir, false)
	}
	return err
}

func (r *records) close() (err error) {
	if r.w != nil {
		err = r.rotate()
	}
	return errors.Join(err, r.dir.Close())
}
