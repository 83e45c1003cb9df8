package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"strings"

	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/warc"
)

// records writes the WARC files of an archive. What no transaction has named
// can be cut off again.
type records struct {
	root *os.Root // of the archive
	dir  *os.Root // the folder warc
	w    *warc.Writer
	size int64 // from which a file is finished

	index *index           // of the file that is being written
	ends  map[string]int64 // how far the files are whole, with the batch at work
	safe  map[string]int64 // and with those that were committed
}

// A Cut tells that the end of a WARC file was cut off, because no run
// committed it.
type Cut struct {
	File   string
	Offset int64
	Size   int64 // bytes that were cut off
}

// openRecords continues behind the last records that were committed, which
// safe tells.
func openRecords(root *os.Root, o warc.Options, safe map[string]int64) (r *records, cuts []Cut, err error) {
	if err := errors.Join(regularfile.CheckFolder(root, warcFolder), root.MkdirAll(warcFolder, 0o777)); err != nil {
		return nil, nil, err
	}
	r = &records{root: root, size: o.MaxSize, index: &index{}, ends: map[string]int64{}, safe: safe}
	if r.size <= 0 {
		r.size = warc.DefaultMaxSize
	}
	o.MaxSize = math.MaxInt64 // commit finishes files
	if r.dir, err = root.OpenRoot(warcFolder); err != nil {
		return nil, nil, err
	}
	if r.w, err = warc.NewWriter(r.dir, o); err == nil {
		cuts, err = r.resume()
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.close())
	}
	return r, cuts, nil
}

// resume cuts off what no run committed of the files that are not finished.
func (r *records) resume() (cuts []Cut, err error) {
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
		end := r.safe[name]
		if err := r.w.Resume(name, end); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if more := info.Size() - end; more > 0 {
			cuts = append(cuts, Cut{name, end, more})
		}
	}
	return cuts, nil
}

// write appends records as one group.
func (r *records) write(group []*warc.Record) ([]warc.Place, error) {
	places, err := r.w.Write(group...)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		r.ends[p.File] = max(r.ends[p.File], p.End())
	}
	return places, r.addLines(places)
}

// addLines gives the lines of a group to the index.
func (r *records) addLines(places []warc.Place) error {
	for _, p := range places {
		if p.File != r.index.file {
			if err := r.closeIndex(); err != nil {
				return err
			}
			_, known := r.safe[p.File]
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

// rewind cuts off what a batch wrote that was not committed.
func (r *records) rewind() (err error) {
	for name := range r.ends {
		err = errors.Join(err, r.w.Resume(name, r.safe[name]))
	}
	clear(r.ends)
	r.index.complete = false // it has lines of what is cut off
	if err != nil {          // the next run cuts it off
		err = errors.Join(err, r.w.Abandon())
	}
	return err
}

// commit takes note that a transaction names the ends. It finishes a file that
// is large enough. All of the file is committed then: a file that has its final
// name never needs to be cut.
func (r *records) commit() error {
	defer clear(r.ends)
	maps.Copy(r.safe, r.ends)
	for _, end := range r.ends {
		if end >= r.size {
			return r.w.Close()
		}
	}
	return nil
}

// finish closes the files and writes their index.
func (r *records) finish(dir string) error {
	err := r.w.Close()
	if err == nil {
		err = r.closeIndex()
	}
	if err == nil {
		err = reindex(r.root, dir)
	}
	return err
}

func (r *records) close() (err error) {
	if r.w != nil {
		err = r.w.Close()
	}
	return errors.Join(err, r.dir.Close())
}
