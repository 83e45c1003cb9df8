package archive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// ExportOptions contains the settings of Export.
type ExportOptions struct {
	Archive   *warc.Archive
	Overwrite bool // if true, replace files with other content

	// Scheme returns the scheme with a name. It is required.
	Scheme func(name string) fetch.Scheme

	// Select reports whether the object at u is exported. Select is required.
	Select func(u uri.URI) bool

	// Report is called for each object that Export cannot write. It is required.
	Report func(ExportProblem)
}

// An ExportProblem describes an object that Export did not write, or of which it
// wrote an older capture.
type ExportProblem struct {
	URL  string
	Path string // path of the file, or "" if it is unknown
	Err  error
}

// Exported contains the results of Export. Except for Bytes and Damaged, the
// fields are numbers of URLs.
type Exported struct {
	Files     int64 // new files
	Bytes     int64 // bytes in new files
	Present   int64 // files that existed with the same content
	Conflicts int64 // files that existed with other content
	Damaged   int64 // captures that are damaged, truncated or incomplete
	Redirects int64 // URLs with only redirects in the archive
	Errors    int64 // URLs with only error responses in the archive
	Skipped   int64 // URLs that were not selected
}

// exportLock is the name of the lock file in tree.PlainTmp.
const exportLock = "lock"

// Export writes a file for each object in o.Archive to the directory dir. The
// names are those that a new archive uses in its tree. Export creates the
// directory if necessary. If an object has several captures, Export writes the
// one that replay prefers. If this capture is damaged, it writes the next one.
//
// A file gets its name when it is complete and synced to disk. Export replaces no
// file unless o.Overwrite is set. After a crash, another call with the same
// archive completes the directory. If another process exports to the directory,
// the error wraps fetch.InUse.
func Export(ctx context.Context, dir string, o ExportOptions) (result Exported, err error) {
	x := &exporter{o: o, ctx: ctx, dir: dir}
	if err = x.open(); err == nil {
		err = x.exportAll()
	}
	return x.result, errors.Join(Classify(err), Classify(x.close()))
}

// An exporter is the state of one call of Export.
type exporter struct {
	o       ExportOptions
	ctx     context.Context
	dir     string
	store   *tree.Store
	lock    save.Handle
	builder *sqlite.Builder // temporary database of the names
	namer   *tree.Namer
	result  Exported

	assigned []tree.Assigned // names that are not in the database yet
	staged   []stagedFile    // files that do not have their names yet
	bytes    int64           // bytes in staged
}

// A stagedFile is a complete file without its final name.
type stagedFile struct {
	*tree.File
	path     string
	modified time.Time
}

func (x *exporter) open() (err error) {
	if x.store, err = tree.Open(x.dir, tree.Options{Plain: true}); err != nil {
		return err
	}
	tmp := filepath.Join(x.dir, tree.PlainTmp)
	if x.lock, err = save.OpenLock(filepath.Join(tmp, exportLock)); errors.Is(err, fetch.InUse) {
		return fetch.InUse.Errorf("%s is in use by another fetch export", x.dir)
	}
	if err == nil {
		err = x.store.Clean(exportLock)
	}
	if err == nil {
		x.builder, err = sqlite.NewBuilder(x.ctx, filepath.Join(tmp, "names.db"), int(tree.NewLayout))
	}
	if err == nil {
		x.namer = tree.NewNamer(tree.NewLayout, x.o.Scheme, x.builder.Frontier().NameOwners)
	}
	return err
}

// close removes the temporary files.
func (x *exporter) close() (err error) {
	for _, f := range x.staged {
		err = errors.Join(err, f.Discard())
	}
	if x.builder != nil {
		err = errors.Join(err, x.builder.Close())
	}
	if x.lock != nil {
		err = errors.Join(err, x.store.Clean(exportLock), x.lock.Close())
		os.Remove(filepath.Join(x.dir, tree.PlainTmp, exportLock)) // fails if another process uses it
	}
	if x.store != nil {
		err = errors.Join(err, x.store.Close())
		os.Remove(filepath.Join(x.dir, tree.PlainTmp))
		err = errors.Join(err, regularfile.SyncNames(x.dir))
	}
	return err
}

func (x *exporter) exportAll() error {
	for lines, err := range x.o.Archive.Objects() {
		if err == nil {
			err = x.ctx.Err()
		}
		if err == nil {
			err = x.export(lines)
		}
		if err != nil {
			return err
		}
	}
	return x.flush()
}

// export writes the object of one URL. The parameter lines contains the index
// lines of its captures, with the preferred capture first.
func (x *exporter) export(lines []warc.Line) error {
	u, err := baseuri.ParseAbsolute(lines[0].URL)
	if err == nil {
		u, err = uri.Parse(Canonical(u))
	}
	if err != nil || !x.o.Select(u) {
		x.result.Skipped++
		return nil
	}
	e := &exportedURL{exporter: x, url: u}
	for _, l := range lines {
		done, err := e.write(l)
		if err == nil {
			if done {
				return nil
			}
			continue
		}
		if x.ctx.Err() != nil || isLocal(err) {
			return err
		}
		x.result.Damaged++
		e.report(l, err)
	}
	e.count()
	return nil
}

// These constants limit the number and the total size of the staged files.
const (
	exportBatch = 256
	exportBytes = 64 << 20
)

// flush syncs the staged files and moves them to their paths.
func (x *exporter) flush() error {
	files := make([]*tree.File, len(x.staged))
	for i, f := range x.staged {
		files[i] = f.File
	}
	err := x.store.Sync(files...)
	for len(x.staged) > 0 && err == nil {
		f := x.staged[0]
		if err = f.Publish(f.path, f.modified); err == nil {
			x.result.Files++
			x.result.Bytes += f.Size()
		}
		x.staged = x.staged[1:]
	}
	if err == nil {
		err = x.store.SyncFolders()
	}
	if err == nil {
		err = x.reserveNames()
	}
	x.staged, x.bytes = x.staged[:0], 0
	return err
}

// reserveNames stores the assigned names in the temporary database.
func (x *exporter) reserveNames() error {
	var names []frontier.Name
	for _, a := range x.assigned {
		names = append(names, a.Claims...)
	}
	err := x.builder.ReserveNames(x.ctx, names)
	if err == nil {
		x.namer.Committed(x.assigned...)
	}
	x.assigned = x.assigned[:0]
	return err
}

// stat returns the file information of the file at path. The result is nil if
// there is no file. The error wraps fetch.Exists if something else has the name.
func (x *exporter) stat(path string) (fs.FileInfo, error) {
	info, err := x.store.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case isNotFolder(err):
		return nil, fetch.Exists.Errorf("a file has the name of a folder of %s", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fetch.Exists.Errorf("%s exists and is not a regular file", path)
	}
	return info, err
}
