package mirror_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A simulatedLedger records the WARC files of a sharedFrontier.
type simulatedLedger struct{ f *workerFrontier }

func (l simulatedLedger) Finish(_ context.Context, w *frontier.WARCFile) error {
	if err := l.f.enterCommit(); err != nil {
		return err
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	have := l.f.file(w.Name)
	switch {
	case have == nil:
		return fmt.Errorf("%s: the database has no records of this file", w.Name)
	case have.Size != w.Size, have.State != frontier.FileWritten && have.SHA256 != w.SHA256:
		return fmt.Errorf("%s: %w", w.Name, frontier.ErrOtherBytes)
	case have.State == frontier.FileWritten:
		have.State, have.SHA256 = frontier.FileFinished, w.SHA256
	}
	return nil
}

func (l simulatedLedger) Store(ctx context.Context, name string) error {
	if err := l.f.enter(ctx); err != nil {
		return err
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	have := l.f.file(name)
	if have == nil || have.State == frontier.FileWritten {
		return fmt.Errorf("%s: the database does not describe this file", name)
	}
	have.State = frontier.FileStored
	return nil
}

func (l simulatedLedger) Beat(ctx context.Context) error { return l.f.enter(ctx) }

// find returns the files for which match returns true.
func (l simulatedLedger) find(match func(*frontier.WARCFile) bool) (all []frontier.WARCFile, err error) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	for _, w := range l.f.files {
		if match(w) {
			all = append(all, *w)
		}
	}
	return all, nil
}

func (l simulatedLedger) Unstored(_ context.Context, worker string) ([]frontier.WARCFile, error) {
	return l.find(func(w *frontier.WARCFile) bool { return w.Worker == worker && w.State != frontier.FileStored })
}

func (l simulatedLedger) Find(_ context.Context, names []string) ([]frontier.WARCFile, error) {
	return l.find(func(w *frontier.WARCFile) bool {
		for _, n := range names {
			if n == w.Name {
				return true
			}
		}
		return false
	})
}

func (l simulatedLedger) NewestStored(context.Context) (f frontier.WARCFile, found bool, err error) {
	all, err := l.find(func(w *frontier.WARCFile) bool { return w.State == frontier.FileStored })
	if len(all) == 0 {
		return f, false, err
	}
	return all[len(all)-1], true, err
}

func (l simulatedLedger) All(context.Context) iter.Seq2[frontier.WARCFile, error] {
	all, _ := l.find(func(*frontier.WARCFile) bool { return true })
	return func(yield func(frontier.WARCFile, error) bool) {
		for _, w := range all {
			if !yield(w, nil) {
				return
			}
		}
	}
}

func (l simulatedLedger) Count(context.Context) (int64, error) {
	all, err := l.find(func(w *frontier.WARCFile) bool { return w.Worker == l.f.w.Name })
	return int64(len(all)), err
}

// A simulatedStore is the store of a process. It is slow, it sometimes fails, and
// its response is sometimes lost after an object was created.
type simulatedStore struct {
	store.Store
	p *simulatedProcess
}

func (s simulatedStore) Put(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) error {
	dice := s.p.dice("store " + name)
	select {
	case <-time.After(time.Duration(dice.Int64N(int64(3 * time.Second)))):
	case <-ctx.Done():
		return fetch.Canceled.With(context.Cause(ctx))
	}
	fails, lost := dice.IntN(8) == 0, dice.IntN(8) == 0
	if calm := s.p.s.isCalm(); fails && !calm || s.p.ended.Load() {
		return fetch.Connect.Errorf("the store does not respond")
	} else if err := s.Store.Put(ctx, name, r, size, sum); err != nil || !lost || calm {
		return err
	}
	return fetch.Connect.Errorf("the response of the store was lost")
}

// A mirrorStore is the mirror.Store that opens a Store.
type mirrorStore struct{ store.Store }

func (m mirrorStore) Open() (store.Store, error) { return m.Store, nil }
