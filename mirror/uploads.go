package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror/internal/archive"
)

// storeTime is the maximum time for which a run waits at its start for a store
// that does not respond. Later, the URL of the store is known to be correct, and a
// run waits without a limit.
const storeTime = 30 * time.Second

// openStore opens a store and checks that this worker can write to the store. If
// the store does not respond, openStore logs this and waits up to limit.
func openStore(ctx context.Context, in Store, limit time.Duration, log *slog.Logger) (store.Store, error) {
	s, err := in.Open()
	if err != nil {
		return nil, archive.Classify(err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, fetch.Timeout.Errorf("the store does not respond"))
	defer cancel()
	waiting := false
	for wait := 250 * time.Millisecond; ; wait *= 2 {
		last := err
		err = s.Check(limited)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case limited.Err() != nil:
			return nil, storeError(errors.Join(last, context.Cause(limited)))
		}
		if err == nil || !fetch.Retryable(err) {
			if waiting && err == nil {
				log.Warn("the store responds again")
			}
			return s, storeError(err)
		}
		if !waiting {
			log.Warn("the store is unavailable; the worker waits", "error", err.Error())
			waiting = true
		}
		select {
		case <-time.After(wait):
		case <-limited.Done():
		}
	}
}

// storeError changes the fault of an error of the store at the start of a run, such
// as a missing bucket, to fetch.Local. Its own fault could mean that a visited URL
// has failed.
func storeError(err error) error {
	switch fetch.FaultOf(err) {
	case fetch.NotFound, fetch.Denied:
		return fetch.Local.With(err)
	}
	return archive.Classify(err)
}

// startUploads starts to upload finished WARC files, if the run has a store. The
// resulting context ends if no further upload can succeed. The function stop
// waits for the end of the uploads and returns their error.
func (c *crawl) startUploads(ctx context.Context) (_ context.Context, stop func() error) {
	if !c.archive.Uploads() {
		return ctx, func() error { return nil }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	uploads, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		err := c.archive.Upload(uploads)
		if err != nil {
			cancel(err)
		}
		ended <- err
	}()
	return ctx, sync.OnceValue(func() error {
		end()
		err := <-ended
		cancel(nil)
		return err
	})
}

// A pause records why a worker claims no hosts at present.
type pause struct {
	mu     sync.Mutex
	reason string // "" means that there is no pause
	full   bool   // if true, the disk was full
}

// mayClaim reports whether the worker may claim hosts. A worker with a store
// pauses while too many files wait for their upload, or while the disk is full.
// After a full disk, it requires a reserve as long as uploads can make space.
func (c *crawl) mayClaim() bool {
	if !c.archive.Uploads() {
		return true
	}
	p := &c.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	reason := ""
	files, bytes := c.archive.Backlog()
	if bytes >= c.o.MaxSpool {
		reason = fmt.Sprintf("%d WARC files with %d bytes wait for their upload", files, bytes)
	}
	if p.full {
		reserve := int64(resumeFree)
		if files == 0 { // no upload will make more space
			reserve = 0
		}
		if err := c.archive.CheckFree(reserve); err != nil {
			reason = err.Error()
		} else {
			p.full = false
		}
	}
	if (reason == "") != (p.reason == "") {
		c.archive.WhileNoCommit(func() { c.report.paused(reason) })
	}
	p.reason = reason
	return reason == ""
}

// resumeFree is the number of bytes, in addition to Limits.MinFree, that must be
// free before a worker resumes. It applies after the disk was full, while files
// wait for their upload.
const resumeFree = 16 << 20

// pauseFull makes the worker stop claiming hosts, because the disk is full. It
// finishes the current WARC file, so that its upload makes space.
func (c *crawl) pauseFull(err error) error {
	c.pause.mu.Lock()
	c.pause.full = true
	c.pause.mu.Unlock()
	if e := c.archive.FinishFile(); e != nil && !errors.Is(e, fetch.DiskFull) {
		return errors.Join(err, e)
	}
	return nil
}

// checkSpace returns an error if the disk is full. A worker with a store pauses
// instead.
func (c *crawl) checkSpace() error {
	err := c.archive.CheckSpace()
	if err != nil && c.archive.Uploads() && errors.Is(err, fetch.DiskFull) {
		return c.pauseFull(err)
	}
	return err
}
