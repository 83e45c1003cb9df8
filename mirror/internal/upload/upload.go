// Package upload moves the finished WARC files of a worker to a store.
//
// The upload of a file has three steps, and each is durable before the next one
// begins. The database receives the size and the digest of the file. The store
// receives the file and confirms all its bytes. The database records that the
// store has the file, and only then the local file is removed. After a crash at
// any point, the next Uploader continues with the missing steps.
package upload

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// Options configures an Uploader. The fields Keep, Log and Failed are optional.
type Options struct {
	Store  store.Store
	Ledger frontier.Ledger
	Dir    *os.Root // directory of the WARC files
	Keep   bool     // if true, local files are not removed

	Log    *slog.Logger                 // receives a record at the start and at the end of each attempt
	Failed func(name string, err error) // called after a failed attempt that Run will repeat
}

// An Uploader uploads the files that were passed to Add. It is safe for
// concurrent use.
type Uploader struct {
	o Options

	mu      sync.Mutex
	waiting []*file       // not yet uploaded files, in the order of Add
	wake    chan struct{} // receives a value after Add
	changed chan struct{} // closed and replaced after each uploaded file
}

type file struct {
	frontier.WARCFile
	finished bool // if true, the database has recorded the digest
}

// New returns an Uploader that has no files to upload yet.
func New(o Options) *Uploader {
	if o.Failed == nil {
		o.Failed = func(string, error) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Uploader{o: o, wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Add schedules the upload of a finished file, unless it is already scheduled.
func (u *Uploader) Add(name string, size int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !slices.ContainsFunc(u.waiting, func(f *file) bool { return f.Name == name }) {
		u.waiting = append(u.waiting, &file{WARCFile: frontier.WARCFile{Name: name, Size: size}})
	}
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// Backlog returns the number of files that are not uploaded yet, and their
// total size in bytes.
func (u *Uploader) Backlog() (files int, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.waiting {
		bytes += f.Size
	}
	return len(u.waiting), bytes
}

// Waits reports whether the file with the given name is scheduled but not
// uploaded yet.
func (u *Uploader) Waits(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.ContainsFunc(u.waiting, func(f *file) bool { return f.Name == name })
}

// Wait blocks until all scheduled files are uploaded, or until ctx ends.
func (u *Uploader) Wait(ctx context.Context) error {
	for {
		u.mu.Lock()
		empty, changed := len(u.waiting) == 0, u.changed
		u.mu.Unlock()
		if empty {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Delays after a failed upload, which double from firstWait to lastWait, and
// the interval at which the worker records that it is active.
const (
	firstWait    = 500 * time.Millisecond
	lastWait     = time.Minute
	beatInterval = 30 * time.Second
)

// Run uploads files until ctx ends. It repeats a failed upload. An error means
// that no attempt can succeed. The store has an object with the same name and
// other content, the local file is damaged, or the worker was abandoned. Run
// then leaves the local files unchanged.
func (u *Uploader) Run(ctx context.Context) error {
	beat := time.NewTicker(beatInterval)
	defer beat.Stop()
	retry := time.NewTimer(0)
	defer retry.Stop()
	ready, wait := true, firstWait // ready is false during the delay after a failed attempt
	attempt := 1                   // number of the next attempt to upload the first file
	for {
		if err := u.finishAll(ctx); err != nil {
			return ended(ctx, err)
		}
		f := u.first()
		if f == nil || !ready {
			select {
			case <-u.wake:
			case <-retry.C:
				ready = true
			case <-beat.C:
				if err := u.o.Ledger.Beat(ctx); err != nil {
					return ended(ctx, err)
				}
			case <-ctx.Done():
				return nil
			}
			continue
		}
		log, started := u.o.Log.With("file", f.Name, "bytes", f.Size, "attempt", attempt), time.Now()
		log.Info("upload started")
		switch err := u.upload(ctx, f, beat); {
		case err == nil:
			log.Info("upload finished", "duration", time.Since(started).Seconds())
			u.remove(f)
			wait, attempt = firstWait, 1
		case ctx.Err() != nil, isPermanent(err):
			return ended(ctx, err)
		default:
			log.Warn("upload failed", "kind", fetch.FaultOf(err).String(), "wait", wait.Seconds(), "error", err.Error())
			u.o.Failed(f.Name, err)
			retry.Reset(wait)
			ready, wait, attempt = false, min(2*wait, lastWait), attempt+1
		}
	}
}

// ended returns nil if ctx has ended, because err is then only the result of
// the cancellation. Otherwise, and for a permanent error, it returns err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && !isPermanent(err) {
		return nil
	}
	return err
}

// errDamaged means that a local WARC file is missing or damaged.
var errDamaged = errors.New("a file of the spool is missing or damaged")

func isPermanent(err error) bool {
	return errors.Is(err, fetch.Mismatch) || errors.Is(err, frontier.ErrAbandoned) || errors.Is(err, errDamaged)
}

// first returns the file that was added first, or nil if all files are
// uploaded.
func (u *Uploader) first() *file {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) == 0 {
		return nil
	}
	return u.waiting[0]
}

// remove removes f from the waiting files and wakes up Wait.
func (u *Uploader) remove(f *file) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting = slices.DeleteFunc(u.waiting, func(other *file) bool { return other == f })
	close(u.changed)
	u.changed = make(chan struct{})
}

// finishAll records the sizes and digests of all waiting files in the database.
// The database then shows the size of the backlog, even if the store is
// unavailable.
func (u *Uploader) finishAll(ctx context.Context) error {
	u.mu.Lock()
	todo := slices.DeleteFunc(slices.Clone(u.waiting), func(f *file) bool { return f.finished })
	u.mu.Unlock()
	for _, f := range todo {
		if err := u.digest(f); err != nil {
			return err
		}
		if err := u.o.Ledger.Finish(ctx, &f.WARCFile); err != nil {
			if errors.Is(err, frontier.ErrOtherBytes) {
				err = fetch.Local.Errorf("%w: %w", errDamaged, err)
			}
			return err
		}
		f.finished = true
	}
	return nil
}

// digest computes the size and the digest of the local file and stores them in
// f.
func (u *Uploader) digest(f *file) error {
	local, err := regularfile.OpenIn(u.o.Dir, f.Name)
	if err != nil {
		return fetch.Local.Errorf("%w: %w", errDamaged, err)
	}
	defer local.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, local)
	if err != nil {
		return fetch.Local.Errorf("%w: %w", errDamaged, err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	f.Size, f.SHA256 = size, [32]byte(sum.Sum(nil))
	return nil
}

// upload puts the file into the store and records this in the database. Then it
// removes the local file.
func (u *Uploader) upload(ctx context.Context, f *file, beat *time.Ticker) error {
	if err := u.put(ctx, f, beat); err != nil {
		return err
	}
	if err := u.o.Ledger.Store(ctx, f.Name); err != nil {
		return err
	}
	return u.Discard(f.Name)
}

// put puts a file into the store. During the transfer, it records at intervals
// that the worker is active.
func (u *Uploader) put(ctx context.Context, f *file, beat *time.Ticker) error {
	local, err := regularfile.OpenIn(u.o.Dir, f.Name)
	if err != nil {
		return fetch.Local.Errorf("%w: %w", errDamaged, err)
	}
	defer local.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- u.o.Store.Put(ctx, f.Name, local, f.Size, f.SHA256) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-beat.C:
			if err := u.o.Ledger.Beat(ctx); err != nil {
				cancel()
				return errors.Join(err, <-ended)
			}
		}
	}
}

// Discard removes the local copy of a file that is recorded as stored, unless
// Options.Keep is set. The file may be missing.
func (u *Uploader) Discard(name string) error {
	if u.o.Keep {
		return nil
	}
	if err := u.o.Dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fetch.Local.With(err)
	}
	return nil
}

// Has reports whether the store has the complete file f. If the store has no
// digest of the object, Has reads the object.
func Has(ctx context.Context, s store.Store, f *frontier.WARCFile) (bool, error) {
	object, err := s.Stat(ctx, f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil, object.Size != f.Size, object.SHA256 != [32]byte{}:
		return err == nil && object.Size == f.Size && object.SHA256 == f.SHA256, err
	}
	r, err := s.Open(ctx, f.Name)
	if err != nil {
		return false, err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, r.Size())); err != nil {
		return false, fmt.Errorf("%s: %w", f.Name, err)
	}
	return [32]byte(sum.Sum(nil)) == f.SHA256, nil
}
