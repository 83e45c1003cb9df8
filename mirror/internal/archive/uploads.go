package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/upload"
)

// ErrFilesLost means that committed records of a worker are neither in its
// directory nor in the store.
var ErrFilesLost = fetch.Local.Errorf("the directory lacks WARC files of the crawl")

// ErrObjectsLost means that the store lacks an object that the crawl has uploaded.
var ErrObjectsLost = fetch.Local.Errorf("the store lacks objects of the crawl")

// settleFiles compares the WARC files of a worker with the database. A file that
// is missing in the directory is recorded as stored if the store has it. If
// records are lost, settleFiles changes nothing and returns ErrFilesLost.
func (a *Archive) settleFiles(ctx context.Context) error {
	files, err := a.ledger.Unstored(ctx, a.options.Shared.Worker)
	if err != nil {
		return err
	}
	var stored, lost []string
	for i := range files {
		f := &files[i]
		short, err := a.isShort(f)
		if err != nil {
			return err
		}
		if !short {
			continue
		}
		found := false
		if f.State == frontier.FileFinished && a.options.Shared.Store != nil {
			if found, err = upload.Has(ctx, a.options.Shared.Store, f); err != nil {
				return err
			}
		}
		if found {
			stored = append(stored, f.Name)
		} else {
			lost = append(lost, f.Name)
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%w: %s has %d of %d files, without %s",
			ErrFilesLost, a.folder.dir, len(files)-len(lost), len(files), lost[0])
	}
	for _, name := range stored {
		if err := a.ledger.Store(ctx, name); err != nil {
			return err
		}
	}
	switch {
	case a.options.Shared.Store == nil:
		return nil
	case !a.options.Recheck:
		return a.checkNewest(ctx)
	}
	missing, err := a.missingObjects(ctx)
	return a.settleLosses(ctx, missing, err)
}

// checkNewest returns an error if the store lacks the newest file that the
// database records as stored. The store is then probably another one, such as
// the empty directory of a file system that is not mounted.
func (a *Archive) checkNewest(ctx context.Context) error {
	f, found, err := a.ledger.NewestStored(ctx)
	if err != nil || !found {
		return err
	}
	s := a.options.Shared.Store
	object, err := s.Open(ctx, f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s has no %s; a file system may not be mounted", ErrObjectsLost, s, f.Name)
	case err != nil:
		return err
	}
	return object.Close()
}

// missingObjects returns the files that the database records as stored, but
// that the store does not have with the same size. All values are zero.
func (a *Archive) missingObjects(ctx context.Context) (map[string]int64, error) {
	sizes := map[string]int64{}
	for object, err := range a.options.Shared.Store.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		sizes[object.Name] = object.Size
	}
	missing := map[string]int64{}
	for f, err := range a.ledger.All(ctx) {
		if err != nil {
			return nil, err
		}
		if size, ok := sizes[f.Name]; f.State == frontier.FileStored && (!ok || size != f.Size) {
			missing[f.Name] = 0
		}
	}
	return missing, nil
}

// isShort reports whether a WARC file in the directory is missing or has fewer
// bytes than were committed.
func (a *Archive) isShort(f *frontier.WARCFile) (bool, error) {
	local, err := a.openWARC(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer local.Close()
	info, err := local.Stat()
	return err == nil && info.Size() < f.Size, err
}

// openUploads schedules the upload of all finished files. Unless KeepLocal is
// set, it removes the local copies of stored files.
func (a *Archive) openUploads(ctx context.Context) error {
	s := a.options.Shared
	a.uploads = upload.New(upload.Options{
		Store: s.Store, Ledger: a.ledger, Dir: a.records.dir, Keep: s.KeepLocal,
		Failed: func(name string, err error) { a.WhileNoCommit(func() { s.Failed(name, err) }) },
		Log:    s.Log,
	})
	a.records.finished = a.uploads.Add
	a.records.withoutIndex = !s.KeepLocal
	files, err := a.ledger.Unstored(ctx, s.Worker)
	if err != nil {
		return err
	}
	for _, f := range files {
		if _, err := a.records.dir.Lstat(f.Name); err == nil { // otherwise the file is unfinished
			a.uploads.Add(f.Name, f.Size)
		}
	}
	if s.KeepLocal {
		return nil
	}
	names, _, err := warcFiles(a.folder.root, "*.warc.gz")
	if err != nil {
		return err
	}
	for i := range names {
		names[i] = path.Base(names[i])
	}
	for some := range slices.Chunk(names, 1000) {
		found, err := a.ledger.Find(ctx, some)
		for _, f := range found {
			if err == nil && f.State == frontier.FileStored && f.Worker == s.Worker {
				err = a.discardStored(ctx, &f)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// discardStored removes the local copy of a file that the database records as
// stored. If the store lacks the file or has other bytes, the copy remains, because
// it can be the only one.
func (a *Archive) discardStored(ctx context.Context, f *frontier.WARCFile) error {
	s := a.options.Shared
	has, err := upload.Has(ctx, s.Store, f)
	if err != nil {
		return err
	}
	if !has {
		s.Log.Warn("the store has no intact copy, so that the local file remains", "file", f.Name)
		return nil
	}
	return a.uploads.Discard(f.Name)
}

// Uploads reports whether the archive uploads its WARC files to a store.
func (a *Archive) Uploads() bool { return a.uploads != nil }

// Upload uploads finished WARC files until ctx ends. An error means that no
// further upload can succeed.
func (a *Archive) Upload(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rotated := make(chan struct{})
	go func() {
		defer close(rotated)
		if err := a.rotateFiles(ctx); err != nil {
			cancel(err)
		}
	}()
	err := a.uploads.Run(ctx)
	if err == nil { // rotateFiles may have failed
		if err = context.Cause(ctx); errors.Is(err, context.Canceled) {
			err = nil
		}
	}
	cancel(nil)
	<-rotated
	return Classify(err)
}

// rotateFiles finishes the current WARC file when it reaches its maximum age,
// until ctx ends. Otherwise the file would not be uploaded while the worker is
// idle.
func (a *Archive) rotateFiles(ctx context.Context) error {
	if a.options.FileAge <= 0 {
		return nil
	}
	every := time.NewTicker(min(a.options.FileAge, 10*time.Second))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		a.commits.Lock()
		var err error
		if a.records.current != "" && a.records.age.reached() {
			err = a.records.rotate()
		}
		a.commits.Unlock()
		if err != nil {
			return err
		}
	}
}

// FinishUploads finishes the current WARC file and waits until the database
// records all files of this worker as stored. It does nothing without a store.
func (a *Archive) FinishUploads(ctx context.Context) error {
	if a.uploads == nil {
		return nil
	}
	if err := a.FinishFile(); err != nil {
		return err
	}
	if err := a.uploads.Wait(ctx); err != nil {
		return Classify(err)
	}
	files, err := a.ledger.Unstored(ctx, a.options.Shared.Worker)
	if err == nil && len(files) > 0 {
		err = fetch.Local.Errorf("%s was not uploaded: run the worker again", files[0].Name)
	}
	return Classify(err)
}

// FinishFile finishes the current WARC file, so that it can be uploaded.
func (a *Archive) FinishFile() error {
	a.commits.Lock()
	defer a.commits.Unlock()
	return Classify(a.records.rotate())
}

// WhileNoCommit calls f while no commit runs, so that f may call Log.
func (a *Archive) WhileNoCommit(f func()) {
	a.commits.Lock()
	defer a.commits.Unlock()
	f()
}

// Backlog returns the number of WARC files that wait for their upload, and the
// sum of their sizes.
func (a *Archive) Backlog() (files int, bytes int64) {
	if a.uploads == nil {
		return 0, 0
	}
	return a.uploads.Backlog()
}

// firstSerial returns the serial number of the first WARC file that this
// process creates. A new file must not get the name of a file in the store.
func (a *Archive) firstSerial(ctx context.Context) (int, error) {
	n, err := a.ledger.Count(ctx)
	return int(n), err
}
