package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
)

// A simulatedProcess is a process of a worker of a shared crawl. Its name is the
// User-Agent of its requests.
type simulatedProcess struct {
	s      *simulation
	worker int
	name   string
	dir    string
	cancel context.CancelCauseFunc

	ended        atomic.Bool // if true, the process changes nothing outside its directory
	killInCommit atomic.Bool
	committed    chan struct{} // closed after the commit in which the process was killed
	calls        atomic.Uint64
}

// dice returns random numbers for the next call of the process.
func (p *simulatedProcess) dice(event string) *rand.Rand {
	return p.s.dice(p.name+event, p.calls.Add(1))
}

// workers are the workers of a simulated shared crawl. The mutex of the simulation
// protects the fields.
type workers struct {
	frontier  *sharedFrontier
	store     store.Store
	folder    string              // of the store
	dirs      []string            // directories of the workers
	current   []*simulatedProcess // nil if a worker does not run
	running   map[string]bool     // names of the processes that run
	partition []time.Time         // ends of the times in which workers do not reach the database
	starts    []int               // number of processes of each worker
	again     bool                // if true, a process starts the next run
}

// startWorkers makes the simulation a shared crawl of n workers.
func (s *simulation) startWorkers(n int) {
	w := &workers{folder: filepath.Join(s.dirs, "store"), current: make([]*simulatedProcess, n), running: map[string]bool{},
		partition: make([]time.Time, n), starts: make([]int, n)}
	for i := range n {
		w.dirs = append(w.dirs, filepath.Join(s.dirs, fmt.Sprint("w", i)))
	}
	folder, err := filepath.Abs(w.folder)
	if err == nil {
		err = os.Mkdir(folder, 0o777)
	}
	if err == nil {
		w.frontier, err = newSharedFrontier(filepath.Join(s.dirs, "frontier.db"))
	}
	if err == nil {
		w.store, err = store.OpenFolder((&url.URL{Scheme: "file", Path: folder}).String())
	}
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { w.frontier.Frontier.Close() })
	s.o.Tree, s.o.WARC.Size = false, 4<<10
	s.workers = w
}

// partitionEnd returns the time until which a worker cannot reach the database.
func (s *simulation) partitionEnd(worker int) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.workers.partition[worker]
}

func (s *simulation) isCalm() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calm
}

// runWorkers runs all workers until the crawl is complete, and checks it.
func (s *simulation) runWorkers() {
	var all sync.WaitGroup
	done := make(chan struct{})
	for i := range s.workers.dirs {
		all.Go(func() { s.work(i) })
	}
	go func() { all.Wait(); close(done) }()
	for range 1 + s.random.IntN(30) {
		select {
		case <-done:
		case <-time.After(time.Duration(s.random.Int64N(int64(15 * time.Second)))):
			s.workerFailure()
			continue
		}
		break
	}
	s.mu.Lock()
	s.calm = true
	clear(s.workers.partition)
	s.mu.Unlock()
	s.restoreHosts()
	<-done
	s.workers.again = true
	for range 4 {
		if s.Failed() {
			return
		}
		status, err := mirror.Open(s.place()).Status(s.Context())
		if err == nil && status.States[mirror.Dead]+status.States[mirror.Pending] == 0 {
			s.checkShared()
			return
		}
		time.Sleep(time.Hour)
		s.work(0)
	}
	s.Error("the crawl does not end")
}

// place returns the crawl for reading.
func (s *simulation) place() mirror.Location {
	return mirror.Location{Frontier: sharedDatabase{f: s.workers.frontier}, Store: mirrorStore{s.workers.store}}
}

// work runs processes of a worker until one ends without a failure.
func (s *simulation) work(worker int) {
	for {
		p, ctx := s.newWorkerProcess(worker)
		o := s.o
		o.Dir, o.Frontier, o.Worker, o.Again = p.dir, sharedDatabase{s.workers.frontier, p}, fmt.Sprint("w", worker), s.workers.again
		o.Store = mirrorStore{simulatedStore{s.workers.store, p}}
		o.Now = nil
		options := fetch.Options{Policy: s.net.policy, Resolver: s.net, Dial: s.net.dial, Wrap: s.net.wrap}
		o.Client = fetch.New(options, schemes.All(schemes.Options{HTTP: http.Options{UserAgent: p.name}})...)
		sum, err := mirror.Run(ctx, o)
		o.Client.Close()
		s.mu.Lock()
		s.workers.current[worker] = nil
		delete(s.workers.running, p.name)
		failed := context.Cause(ctx) != nil
		p.ended.Store(true)
		s.mu.Unlock()
		p.cancel(nil)
		s.note("%s ended: %+v, %v", p.name, sum, err)
		switch {
		case failed:
			time.Sleep(time.Duration(p.dice("pause").Int64N(int64(30 * time.Second))))
		case err == nil, errors.Is(err, mirror.ErrComplete):
			return
		default:
			s.Errorf("%s: %v", p.name, err)
			return
		}
	}
}

func (s *simulation) newWorkerProcess(worker int) (*simulatedProcess, context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workers
	w.starts[worker]++
	s.counts.Runs++
	p := &simulatedProcess{s: s, worker: worker, name: fmt.Sprintf("w%d.%d", worker, w.starts[worker]), dir: w.dirs[worker],
		committed: make(chan struct{})}
	w.current[worker], w.running[p.name] = p, true
	ctx, cancel := context.WithCancelCause(s.Context())
	p.cancel = cancel
	return p, ctx
}

// workerFailure causes a random failure of a shared crawl.
func (s *simulation) workerFailure() {
	worker := s.random.IntN(len(s.workers.dirs))
	event, duration, silent := s.random.IntN(12), time.Duration(s.random.Int64N(int64(3*time.Minute))), s.random.IntN(2) == 0
	h := s.hosts[s.random.IntN(len(s.hosts))]
	s.mu.Lock()
	p := s.workers.current[worker]
	s.mu.Unlock()
	switch {
	case event < 4 && event != 2 && p == nil:
	case event < 2:
		synctest.Wait()
		if !p.ended.Load() {
			s.kill(p)
		}
	case event == 2:
		s.note("w%d does not reach the database for %v", worker, duration)
		s.mu.Lock()
		s.counts.Partitions++
		s.workers.partition[worker] = time.Now().Add(duration)
		s.mu.Unlock()
	case event == 3:
		s.note("interrupt %s", p.name)
		s.mu.Lock()
		s.counts.Interrupts++
		s.mu.Unlock()
		p.cancel(errInterrupted)
	case event < 6 && p != nil: // after the next commit, whose response is lost
		p.killInCommit.Store(true)
		select {
		case <-p.committed:
		case <-time.After(20 * time.Second):
			p.killInCommit.Store(false)
		}
	case event < 9:
		s.note("outage of %s", h.name)
		h.fail(duration, silent)
	}
}

// kill ends a process. The worker continues with a copy of the files in their
// present state.
func (s *simulation) kill(p *simulatedProcess) {
	s.note("kill %s", p.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Kills++
	delete(s.workers.running, p.name)
	p.ended.Store(true)
	next := filepath.Join(s.dirs, p.name)
	if err := copyPresent(p.dir, next); err != nil {
		s.Error(err)
	}
	s.workers.dirs[p.worker] = next
	p.cancel(errKilled)
}

// copyPresent copies the files of a directory. Other goroutines can remove
// temporary files meanwhile.
func copyPresent(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		name, _ := filepath.Rel(from, path)
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return ignoreMissing(err)
		}
		return os.WriteFile(filepath.Join(to, name), body, 0o666)
	})
}

// ignoreMissing returns nil for an error about a file that does not exist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkShared checks that the crawl is complete.
func (s *simulation) checkShared() {
	for f, err := range mirror.Open(s.place()).Verify(context.Background()) {
		if err != nil || !f.Note {
			s.Errorf("verify: %v %v", f, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(s.workers.folder, "*.warc.gz"))
	if err != nil {
		s.Error(err)
	}
	s.checkWARC(s.want(s.checkLogs(s.workers.dirs...)), files)
}
