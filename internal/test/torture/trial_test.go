package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/savetest"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/wrap"
)

// A trial is a run of a scenario in which at most one operation fails.
type trial struct {
	*scenario
	attempts int // of the Retry middleware; 1 means without the middleware

	at   int              // number of the network operation that fails; 0 for none
	conn faultnet.Failure // way in which the network operation fails
	disk *savetest.FS     // file system, which may fail an operation
	stop int              // number of the file system operation at which the caller cancels; 0 for none

	change func(*world, *fetch.Options) // modifies the world and the options; may be nil

	world    *world
	breaker  *faultnet.Breaker
	out      string // path of the output file
	mu       sync.Mutex
	messages []string // notes and notified retries
}

// addMessage records a message for the user. It may be called concurrently.
func (tr *trial) addMessage(text string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.messages = append(tr.messages, text)
}

// An outcome is the result of a trial.
type outcome struct {
	err      error
	got      string // bytes delivered to the caller, in order
	first    int64  // offset of got in the object
	took     time.Duration
	dials    int
	requests int
}

// run runs the transfer and waits for its goroutines.
func (tr *trial) run(t *testing.T) outcome {
	w := newWorld(t)
	tr.world = w
	opts := tr.serve(w)
	out, url := tr.prepare(t)
	tr.out = out
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx, tr.breaker = faultnet.NewBreaker(ctx, tr.at, tr.conn)
	if tr.expires() {
		ctx, tr.breaker = faultnet.NewBreaker(ctx, 0, tr.conn)
		w.expireAt = tr.at
	}
	w.watched = ctx
	opts.Dial = w.record(tr.breaker.Dial(w.dial))
	if tr.change != nil {
		tr.change(w, &opts)
	}
	var fsys save.FS = tr.disk
	if tr.stop > 0 {
		fsys = &stopper{FS: tr.disk, disk: tr.disk, at: tr.stop, stop: cancel}
	}
	return tr.transfer(t, ctx, opts, url, fsys)
}

// expires reports whether the deadline of the failing operation passes
// immediately. HTTP/2 and TLS write under a mutex, and the time of a bubble
// stops while a goroutine waits for a mutex.
func (tr *trial) expires() bool { return tr.tls && tr.at > 0 && tr.conn == faultnet.Silent }

// hit reports whether the failing network operation was reached.
func (tr *trial) hit() bool {
	return tr.breaker.Hit() || tr.expires() && tr.world.ops >= tr.at
}

// closeTime is the time that an idle session may need to end after the client
// is closed. It does not count as time of a transfer.
const closeTime = 5 * time.Second

// transfer saves url in the file tr.out, as a program would.
func (tr *trial) transfer(t *testing.T, ctx context.Context, opts fetch.Options, url string, fsys save.FS) (o outcome) {
	if tr.segmented {
		opts.Wrap = append(opts.Wrap, wrap.Segments(segments))
	}
	client := newClient(tr.world, opts, tr.attempts, tr.addMessage, schemes.All(schemes.Options{HTTP: tr.http})...)
	began := time.Now()
	defer func() {
		client.Close()
		o.took = time.Since(began)
		<-time.After(closeTime)
		synctest.Wait()
		o.dials, o.requests = tr.world.dials, tr.world.requests
		if tr.world.open != 0 {
			t.Errorf("I4: %d connections are open", tr.world.open)
		}
	}()
	u, err := fetch.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	req := &fetch.Request{
		URL:    u,
		Header: fetch.Header{{Name: "X-Api-Key", Value: secret}},
		Trace:  &trace.Trace{Note: tr.addMessage},
	}
	so := tr.save
	so.URL, so.FS = url, fsys
	f, err := save.Create(tr.out, so)
	if err != nil {
		o.err = err
		return o
	}
	defer f.Close()
	for again := false; ; again = true {
		o.err = o.attempt(ctx, client, req, f)
		if again || !errors.Is(o.err, fetch.Mismatch) || f.State().Offset > 0 {
			return o
		}
	}
}

// newClient returns a Client in w. It calls say before each retry.
func newClient(w *world, opts fetch.Options, attempts int, say func(string), all ...fetch.Scheme) *fetch.Client {
	opts.Policy = fetch.Typed()
	opts.Resolver = w
	if attempts > 1 {
		opts.Wrap = append(opts.Wrap, wrap.Retry(wrap.RetryOptions{
			Attempts: attempts,
			Jitter:   func() float64 { return 1 },
			Notify: func(_ context.Context, a wrap.Attempt) {
				say(fmt.Sprintf("%v; attempt %d in %v", a.Err, a.Count+1, a.Wait))
			},
		}))
	}
	return fetch.New(opts, all...)
}

// attempt requests the object, or the part that is missing in f.
func (o *outcome) attempt(ctx context.Context, client *fetch.Client, req *fetch.Request, f *save.File) error {
	if have := f.State(); have.Offset > 0 {
		req = req.Clone()
		req.Range, req.IfSame = fetch.Range{First: have.Offset}, have.Validator
	}
	resp, err := client.Do(ctx, req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := f.Begin(save.State{Offset: resp.Offset, Validator: resp.Validator, Size: resp.Size}); err != nil {
		return err
	}
	var got strings.Builder
	defer func() { o.got, o.first = got.String(), resp.Offset }()
	if _, err := io.Copy(f, io.TeeReader(resp.Body, &got)); err != nil {
		return err
	}
	return f.Commit()
}

// repeat repeats the transfer without a failure, with the files that the trial
// left.
func (tr *trial) repeat(t *testing.T, url string) outcome {
	clean := &trial{scenario: tr.scenario, attempts: tr.attempts, world: newWorld(t), out: tr.out}
	opts := tr.serve(clean.world)
	clean.world.watched = t.Context()
	opts.Dial = clean.world.record(clean.world.dial)
	if tr.change != nil {
		tr.change(clean.world, &opts)
	}
	return clean.transfer(t, t.Context(), opts, url, nil)
}

// resolvedURL returns the URL of the scenario with the folder of the trial.
func (tr *trial) resolvedURL() string {
	return strings.ReplaceAll(tr.scenario.url, "FOLDER", filepath.Dir(filepath.Dir(tr.out)))
}

// A stopper is a file system that calls stop at operation number at.
type stopper struct {
	save.FS
	disk *savetest.FS
	at   int
	stop func()
}

func (s *stopper) now() {
	if len(s.disk.Ops())+1 >= s.at {
		s.stop()
	}
}

func (s *stopper) OpenFile(name string, flag int, perm os.FileMode) (save.Handle, error) {
	s.now()
	h, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return stoppedFile{h, s}, nil
}

func (s *stopper) Rename(from, to string) error {
	s.now()
	return s.FS.Rename(from, to)
}

func (s *stopper) SyncDir(name string) error {
	s.now()
	return s.FS.SyncDir(name)
}

type stoppedFile struct {
	save.Handle
	s *stopper
}

func (f stoppedFile) Write(p []byte) (int, error) {
	f.s.now()
	return f.Handle.Write(p)
}

func (f stoppedFile) Sync() error {
	f.s.now()
	return f.Handle.Sync()
}

// names returns the names of the files in the folder of the output file.
func (tr *trial) names(t *testing.T) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(tr.out))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// content returns the content of the output file, or "" if there is no file.
func (tr *trial) content(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(tr.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// renamed reports whether the partial file was renamed.
func (tr *trial) renamed() bool {
	return slices.ContainsFunc(tr.disk.Ops(), func(op savetest.Op) bool {
		return strings.HasPrefix(op.Verb, "rename") && filepath.Base(op.Name) == ".out.part"
	})
}
