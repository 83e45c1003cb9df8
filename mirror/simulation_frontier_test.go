package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// A sharedFrontier is a model of the database of a shared crawl. The URLs, hosts
// and leases are in an SQLite database, which applies the rules of all frontiers.
// The model adds what belongs to a worker: its log lines, counts and WARC files.
type sharedFrontier struct {
	frontier.Frontier

	mu      sync.Mutex
	folders map[string]string // folder by name of the worker
	lines   map[string][][]byte
	counts  map[string]frontier.Counts
	leases  map[string]map[string]*frontier.Lease // by worker and host
	files   []*frontier.WARCFile                  // in the order in which they were created
	note    []byte
	version int
}

func newSharedFrontier(path string) (*sharedFrontier, error) {
	db, err := sqlite.Open(context.Background(), path)
	return &sharedFrontier{Frontier: db, folders: map[string]string{}, lines: map[string][][]byte{}, counts: map[string]frontier.Counts{},
		leases: map[string]map[string]*frontier.Lease{}}, err
}

// A workerFrontier is the connection of a process to a sharedFrontier. After the
// end of the process, no call changes the database.
type workerFrontier struct {
	*sharedFrontier
	p *simulatedProcess // nil for a process that only reads
	w frontier.Worker
}

// errConnection is the error of a process that was killed.
var errConnection = errors.New("the connection is closed")

// A sharedDatabase opens the frontier for a process.
type sharedDatabase struct {
	f *sharedFrontier
	p *simulatedProcess
}

func (d sharedDatabase) View(context.Context) (frontier.Shared, error) {
	return &workerFrontier{sharedFrontier: d.f}, nil
}

func (d sharedDatabase) Registered(_ context.Context, w *frontier.Worker) (bool, error) {
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	return d.f.folders[w.Name] == w.Folder, nil
}

func (d sharedDatabase) Join(ctx context.Context, w *frontier.Worker) (frontier.Shared, error) {
	f := &workerFrontier{d.f, d.p, *w}
	if err := f.enter(ctx); err != nil {
		return nil, err
	}
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if have, ok := d.f.folders[w.Name]; ok && have != w.Folder {
		return nil, frontier.ErrOtherFolder
	}
	d.f.folders[w.Name], w.Incarnation = w.Folder, 1
	return f, nil
}

// enter waits while the process cannot reach the database. It returns an error
// after the end of the process.
func (f *workerFrontier) enter(ctx context.Context) error {
	if f.p == nil {
		return nil
	}
	for !f.p.ended.Load() {
		wait := time.Until(f.p.s.partitionEnd(f.p.worker))
		if wait <= 0 {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errConnection
}

// enterCommit is like enter for calls in a commit. The other commits of the process
// wait for a mutex meanwhile, which stops fake time. Therefore enterCommit does not
// wait: the connection works again.
func (f *workerFrontier) enterCommit() error {
	f.p.s.mu.Lock()
	defer f.p.s.mu.Unlock()
	f.p.s.workers.partition[f.p.worker] = time.Time{}
	if f.p.ended.Load() {
		return errConnection
	}
	return nil
}

func (f *workerFrontier) Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error) {
	if err := f.enter(ctx); err != nil {
		return 0, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	st, err := f.Frontier.Stats(ctx)
	if err != nil {
		return 0, false, err
	}
	if st.Run > 0 && !st.Ended.IsZero() && !f.w.Again {
		return 0, false, frontier.ErrEnded
	}
	if run, fresh, err = f.Frontier.Begin(ctx, note); fresh && err == nil {
		f.note, f.version = note, f.version+1
		clear(f.counts)
	}
	return run, fresh, err
}

func (f *workerFrontier) End(ctx context.Context) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	return f.Frontier.End(ctx)
}

// Add adds items after a pause, in which another worker can end the run.
func (f *workerFrontier) Add(ctx context.Context, items []frontier.Item) (int, error) {
	select {
	case <-time.After(time.Duration(f.p.dice("add").Int64N(int64(2 * time.Second)))):
	case <-ctx.Done(): // a visit must not continue after the end of its lease
		return 0, ctx.Err()
	}
	if err := f.enter(ctx); err != nil {
		return 0, err
	}
	return f.Frontier.Add(ctx, items)
}

func (f *workerFrontier) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) ([]*frontier.Lease, error) {
	if err := f.enter(ctx); err != nil {
		return nil, err
	}
	leases, err := f.Frontier.Claim(ctx, worker, hosts, perHost, ttl)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range leases {
		if f.leases[worker] == nil {
			f.leases[worker] = map[string]*frontier.Lease{}
		}
		f.leases[worker][l.Host] = l
	}
	return leases, err
}

func (f *workerFrontier) ClaimMore(ctx context.Context, l *frontier.Lease, n int) ([]frontier.Item, error) {
	if err := f.enter(ctx); err != nil {
		return nil, err
	}
	return f.Frontier.ClaimMore(ctx, l, n)
}

// Complete commits the results. If the process is to be killed in a commit,
// Complete ends it after the transaction, so that the response is lost.
func (f *workerFrontier) Complete(ctx context.Context, l *frontier.Lease, rs []frontier.Result, ends map[string]int64) error {
	if err := f.enterCommit(); err != nil {
		return err
	}
	plain := slices.Clone(rs)
	for i := range plain {
		plain[i].Line = nil
	}
	if err := f.commit(ctx, l, plain, rs, ends); err != nil {
		return err
	}
	if f.p.killInCommit.CompareAndSwap(true, false) {
		f.p.s.kill(f.p)
		close(f.p.committed)
		return errConnection
	}
	return nil
}

func (f *workerFrontier) commit(ctx context.Context, l *frontier.Lease, plain, rs []frontier.Result, ends map[string]int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.Frontier.Complete(ctx, l, plain, ends); err != nil {
		return err
	}
	sum := f.counts[f.w.Name]
	for _, r := range rs {
		sum.Files, sum.Bytes = sum.Files+r.Counts.Files, sum.Bytes+r.Counts.Bytes
		if r.Line != nil {
			f.lines[f.w.Name] = append(f.lines[f.w.Name], slices.Clone(r.Line))
		}
	}
	f.counts[f.w.Name] = sum
	for name, end := range ends {
		w := f.file(name)
		if w == nil {
			w = &frontier.WARCFile{Name: name, Worker: f.w.Name}
			f.files = append(f.files, w)
		}
		w.Size = max(w.Size, end)
	}
	return nil
}

// file returns the description of a file, or nil. The caller holds f.mu.
func (f *sharedFrontier) file(name string) *frontier.WARCFile {
	i := slices.IndexFunc(f.files, func(w *frontier.WARCFile) bool { return w.Name == name })
	if i < 0 {
		return nil
	}
	return f.files[i]
}

func (f *workerFrontier) Unlogged(context.Context) iter.Seq2[[]byte, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := slices.Clone(f.lines[f.w.Name])
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
	}
}

func (f *workerFrontier) Logged(_ context.Context) error {
	if err := f.enterCommit(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.lines, f.w.Name)
	return nil
}

func (f *workerFrontier) Extend(ctx context.Context, l *frontier.Lease, ttl time.Duration) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	return f.Frontier.Extend(ctx, l, ttl)
}

func (f *workerFrontier) Release(ctx context.Context, l *frontier.Lease, next time.Time) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	delete(f.leases[f.w.Name], l.Host)
	f.mu.Unlock()
	return f.Frontier.Release(ctx, l, next)
}

func (f *workerFrontier) BlockHost(ctx context.Context, host string, until time.Time) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	return f.Frontier.BlockHost(ctx, host, until)
}

// Evict ends the leases of this worker. The pauses of their hosts begin now.
func (f *workerFrontier) Evict(ctx context.Context) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	controls, err := f.Frontier.Controls(ctx, nil)
	for host, l := range f.leases[f.w.Name] {
		next := time.Now().Add(max(f.w.Pause, controls[host].CrawlDelay))
		if released := f.Frontier.Release(ctx, l, next); !errors.Is(released, frontier.ErrFenced) {
			err = errors.Join(err, released)
		}
	}
	delete(f.leases, f.w.Name)
	return err
}

func (f *workerFrontier) FileEnds(context.Context) (map[string]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ends := map[string]int64{}
	for _, w := range f.files {
		if w.Worker == f.w.Name && w.State != frontier.FileStored {
			ends[w.Name] = w.Size
		}
	}
	return ends, nil
}

func (f *workerFrontier) Counts(context.Context) (own, others frontier.Counts, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, n := range f.counts {
		to := &others
		if name == f.w.Name {
			to = &own
		}
		to.Files, to.Bytes = to.Files+n.Files, to.Bytes+n.Bytes
	}
	return own, others, nil
}

func (f *workerFrontier) Stats(ctx context.Context) (frontier.Stats, error) {
	st, err := f.Frontier.Stats(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	st.Note = f.note
	return st, err
}

// Seal writes the manifest. The digest of the rows is not tested here.
func (f *workerFrontier) Seal(_ context.Context, manifest func() ([]byte, error)) error {
	_, err := manifest()
	return err
}

func (f *workerFrontier) Close() error                                   { return nil }
func (f *workerFrontier) Ledger() frontier.Ledger                        { return simulatedLedger{f} }
func (f *workerFrontier) Report(context.Context, float64, float64) error { return nil }
func (f *workerFrontier) Skip(string) bool                               { return false }
func (f *workerFrontier) SkipNone()                                      {}

func (f *workerFrontier) ChangedNote(_ context.Context, version string) (note []byte, now string, changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now = fmt.Sprint(f.version)
	if now == version {
		return nil, now, false, nil
	}
	return f.note, now, true, nil
}

func (f *workerFrontier) ChangeNote(_ context.Context, change func([]byte) ([]byte, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	note, err := change(f.note)
	if err == nil {
		f.note, f.version = note, f.version+1
	}
	return err
}

// errUnused is the error of the methods that no simulation calls.
var errUnused = errors.New("the model does not support this")

func (f *workerFrontier) Workers(context.Context) ([]frontier.WorkerState, error) { return nil, nil }
func (f *workerFrontier) Reopen(context.Context) error                            { return errUnused }
func (f *workerFrontier) Import(context.Context, *frontier.Worker, []byte, []frontier.ExportedTable) error {
	return errUnused
}

func (f *workerFrontier) Abandon(context.Context, string, frontier.AbandonOptions) (frontier.Abandoned, error) {
	return frontier.Abandoned{}, errUnused
}
