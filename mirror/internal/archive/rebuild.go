package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// ErrNoDatabase means that a directory contains files of an archive, but no
// database. Rebuild can create it again.
var ErrNoDatabase = fetch.Local.Errorf("the archive has no database")

// ErrIntact means that Rebuild found a database without damage.
var ErrIntact = fetch.Usage.Errorf("the database is not damaged")

// RebuildOptions contains the settings of Rebuild. The functions are required.
type RebuildOptions struct {
	Force bool             // if true, replace a database that is not damaged
	Now   func() time.Time // clock

	Scheme func(name string) fetch.Scheme // returns the scheme with a name

	// Decode decodes a line of the journal, as passed to Archive.Log. If the
	// line does not describe a visit, the URL of the item is "". An error means
	// that the line is damaged.
	Decode func(line []byte) (LogLine, error)

	// NewItem returns the item for a URL that was found only in a WARC record,
	// and its state. The parameter text is the canonical form of u, and via is
	// the URL of the page that links to u, or "".
	NewItem func(u uri.URI, text, via string) (frontier.Item, frontier.State)

	// Note returns the note of a run with the given seeds.
	Note func(seeds []string) []byte
}

// A LogLine is a decoded line of the journal.
type LogLine struct {
	sqlite.LoggedVisit
	Time time.Time
	Seed bool // if true, the URL is a seed of the run
}

// Rebuilt contains the results of Rebuild.
type Rebuilt struct {
	URLs           int64  // URLs in the new database
	Captures       int64  // objects in the new database
	Pending        int64  // URLs that the next run visits first
	Lines          int64  // lines of the journal
	DamagedLines   int64  // lines of the journal that could not be read
	Unlogged       int64  // objects that were found only in WARC files
	LostRecords    int64  // logged objects whose WARC records are missing or damaged
	DamagedRecords int64  // damaged positions in WARC files
	Replaced       string // new name of the old database, or "" if there was none
}

// Rebuild recreates the database of the archive in the directory dir from the
// journal, the WARC files and the tree. It renames an existing database and
// removes no file. If the existing database is not damaged and Force is not
// set, Rebuild returns ErrIntact and changes nothing.
//
// Rebuild writes the database to a temporary file first. If the process is
// killed, the archive has the old database, no database or the new database.
func Rebuild(ctx context.Context, dir string, o RebuildOptions) (Rebuilt, error) {
	a := &Archive{started: o.Now()}
	r := &rebuild{a: a, o: o}
	var err error
	if a.folder, err = openFolder(dir); err == nil {
		err = r.prepare(ctx)
	}
	if err == nil {
		err = r.build(ctx)
	}
	if r.builder != nil {
		err = errors.Join(err, r.builder.Close())
	}
	if err == nil {
		err = r.replaceDatabase()
	}
	return r.result, errors.Join(Classify(err), a.Close())
}

// newDatabase is the name of the database until it is complete.
const newDatabase = tree.Tmp + "/" + database

// databaseSuffixes lists the suffixes of the files of an SQLite database. Files
// are renamed in this order. If the database itself were not the first one, a
// crash could leave a database without its log, which looks like an older
// database.
var databaseSuffixes = [...]string{"", "-wal", "-shm", "-journal"}

type rebuild struct {
	a       *Archive
	o       RebuildOptions
	builder *sqlite.Builder
	result  Rebuilt
	run     int64 // number of the newest run
	started time.Time
	seeds   []string // seeds of run seedRun
	seedRun int64

	seedBytes int // bytes of seeds
}

// prepare locks the archive, checks that a new database is necessary, and
// removes the temporary files of a killed process.
func (r *rebuild) prepare(ctx context.Context) error {
	a := r.a
	if err := a.folder.acquireLock(); err != nil {
		return err
	}
	if err := a.folder.checkNotShared(); err != nil { // the database is in PostgreSQL
		return err
	}
	has, err := a.folder.hasContent()
	if err != nil {
		return err
	}
	if _, err := a.folder.root.Lstat(database); err != nil && !has {
		return fetch.Local.Errorf("%s is not an archive", a.folder.dir)
	}
	if err := r.checkOld(ctx); err != nil {
		return err
	}
	if a.store, err = tree.Open(a.folder.dir, tree.Options{}); err != nil {
		return err
	}
	for _, suffix := range databaseSuffixes {
		if err := a.folder.root.Remove(newDatabase + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkOld returns ErrIntact if there is a database without damage and Force is
// not set. With Force, it adds the lines that only this database contains to the
// journal.
func (r *rebuild) checkOld(ctx context.Context) error {
	info, err := r.a.folder.root.Lstat(database)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err == nil {
		err = sqlite.CheckFile(ctx, filepath.Join(r.a.folder.dir, database))
	}
	switch {
	case err == nil && r.o.Force:
		return r.restoreLog(ctx)
	case r.o.Force, errors.Is(err, frontier.ErrDamaged):
		return nil
	case err == nil:
		return ErrIntact
	}
	return err
}

// restoreLog adds the lines that only the old database contains to the journal.
func (r *rebuild) restoreLog(ctx context.Context) (err error) {
	a := r.a
	if err := a.openFrontier(ctx); err != nil {
		return err
	}
	if a.journal, err = openJournal(a.folder.root); err == nil {
		err = errors.Join(a.restoreLog(ctx), a.journal.close())
	}
	err = errors.Join(err, a.frontier.Close())
	a.journal, a.frontier = nil, nil
	return err
}

// build creates the new database from the journal, the WARC files and the tree.
func (r *rebuild) build(ctx context.Context) (err error) {
	if r.a.layout, err = r.findLayout(); err != nil {
		return err
	}
	path := filepath.Join(r.a.folder.dir, filepath.FromSlash(newDatabase))
	if r.builder, err = sqlite.NewBuilder(ctx, path, int(r.a.layout)); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{r.addVisits, r.addRecords, r.addFiles} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	newest := sqlite.RunRecord{Number: max(r.run, 1), Note: r.o.Note(r.seeds), Started: r.started}
	if newest.Started.IsZero() {
		newest.Started = r.a.started
	}
	if err := r.builder.Finish(ctx, newest); err != nil {
		return err
	}
	s, err := r.builder.Frontier().Stats(ctx)
	r.result.URLs, r.result.Captures, r.result.Pending = s.URLs, s.Captures, s.States[frontier.Pending]
	return errors.Join(err, r.builder.Close())
}

// findLayout determines which version of the rules for paths the tree uses,
// from the names of its files.
func (r *rebuild) findLayout() (tree.Layout, error) {
	layout := tree.NewLayout
	for e, err := range r.a.store.Walk() {
		if err != nil {
			return 0, err
		}
		if layout = min(layout, tree.LayoutOf(e.Path, r.o.Scheme)); layout == tree.FirstLayout {
			break
		}
	}
	return layout, nil
}

// replaceDatabase renames the old database and then the new database.
func (r *rebuild) replaceDatabase() (err error) {
	root := r.a.folder.root
	if r.result.Replaced, err = setAside(root, "damaged-"+r.a.started.UTC().Format("20060102T150405Z")); err != nil {
		return err
	}
	err = root.Rename(newDatabase, database)
	syncNames(root)
	return err
}

// setAside renames the database, if any, and returns its new name. The label is a
// part of the name.
func setAside(root *os.Root, label string) (renamed string, err error) {
	name := database + "." + label
	for n := 1; ; n++ {
		used, err := fs.Glob(root.FS(), name+"*")
		if err != nil {
			return "", err
		}
		if len(used) == 0 {
			break
		}
		name = fmt.Sprintf("%s.%s.%d", database, label, n)
	}
	for _, suffix := range databaseSuffixes {
		switch err := root.Rename(database+suffix, name+suffix); {
		case err == nil:
			renamed = name
		case !errors.Is(err, fs.ErrNotExist):
			return renamed, err
		}
	}
	syncNames(root) // the old log must not remain next to a new database
	return renamed, nil
}

// syncNames commits the names in the directory to stable storage. It ignores
// errors, because some systems cannot sync a directory.
func syncNames(root *os.Root) {
	if f, err := root.Open("."); err == nil {
		f.Sync()
		f.Close()
	}
}

// hasContent reports whether the directory contains WARC files, files in the
// tree or mailboxes, which require a database.
func (f *folder) hasContent() (bool, error) {
	names, _, err := warcFiles(f.root, "*.warc.gz*")
	if len(names) > 0 || err != nil {
		return err == nil, err
	}
	for _, name := range []string{tree.Dir, mailFolder} {
		entries, err := fs.ReadDir(f.root.FS(), name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if len(entries) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// checkDatabase returns an error that wraps ErrNoDatabase if the directory
// contains files of an archive, but no database. A run would otherwise start a
// new archive and replace these files.
func (f *folder) checkDatabase() error {
	info, err := f.root.Lstat(database)
	switch {
	case err == nil && info.Size() > 0 && !f.isUnfinished():
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	has, err := f.hasContent()
	if has && err == nil {
		err = fetch.Local.Errorf("%s: %w", f.dir, ErrNoDatabase)
	}
	return err
}

// isUnfinished reports whether a process was killed while it created the
// database. The database then has at most one page, which contains no rows, and
// a rollback journal.
func (f *folder) isUnfinished() bool {
	const page = 4096
	info, err := f.root.Lstat(database)
	journal, journalErr := f.root.Lstat(database + "-journal")
	return (errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() <= page) &&
		journalErr == nil && journal.Mode().IsRegular() && journal.Size() > 0
}

// removeUnfinished removes a database that isUnfinished describes. The process
// must hold the lock.
func (f *folder) removeUnfinished() error {
	if !f.isUnfinished() {
		return nil
	}
	if err := f.root.Remove(database); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.root.Remove(database + "-journal")
}
