package mirror_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/report"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// The flags of TestSimulatedCrawl. A failed simulation prints the value of
// -simulation-seed that repeats it. TestSoakSimulatedCrawl has only the last two flags.
var (
	simulationSeed = flag.Uint64("simulation-seed", 0, "run only the simulation with this seed")
	simulations    = flag.Uint64("simulations", 50, "number of simulated crawls")
	simulationLog  = flag.String("simulation-log", "", "append the events of the simulations to this file")
	simulationDir  = flag.String("simulation-dir", "", "create this directory for the files of a simulation, instead of one with a random name")

	firstSimulation = flag.Uint64("first-simulation", 1, "first seed of the soak test, which several machines can share")
	lastSimulation  = flag.Uint64("last-simulation", 100_000, "last seed of the soak test")
)

// TestSimulatedCrawl crawls generated sites in fake time. A seed determines the
// sites, the speed of servers and disks, and the failures: kills, hosts that
// cannot be reached, steps of the clock, and responses that are lost.
//
// The crawl of every third seed has several workers, which share a model of the
// database and a store. Their further failures are kills in a commit, processes
// that cannot reach the database, and a store that fails or whose response is lost.
//
// These invariants are checked after each failure and at the end:
//
//   - No object is lost: at the end, the archive contains every page.
//   - Nothing happens twice: a run visits a page once, and the WARC files have
//     each object once.
//   - The pauses between the requests to a host and the number of its
//     connections are respected, also by several workers. Only one of them visits
//     a host at a time.
//   - Log, database, WARC files and tree agree, and Verify finds no error.
func TestSimulatedCrawl(t *testing.T) {
	first, last := uint64(1), *simulations
	if testing.Short() {
		last = min(last, 2)
	}
	if *simulationSeed > 0 {
		first, last = *simulationSeed, *simulationSeed
		cryptotest.SetGlobalRandom(t, *simulationSeed) // for the identifiers of records, which change the sizes of files
	} else {
		t.Parallel()
	}
	simulate(t, first, last)
}

// maxFailures is the number of failed seeds after which no further one starts.
const maxFailures = 10

// simulate runs the simulations with the given seeds, as many at a time as the
// machine has processors.
func simulate(t *testing.T, first, last uint64) {
	var (
		mu     sync.Mutex
		total  simulationCounts // guarded by mu
		failed atomic.Int64
	)
	figures := report.Start(t, "simulated crawl")
	seeds := make(chan uint64)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for seed := range seeds {
				counts, ok := simulateSeed(t, seed, figures)
				if !ok {
					failed.Add(1)
				}
				mu.Lock()
				total.add(counts)
				mu.Unlock()
			}
		})
	}
	for seed := first; seed <= last && failed.Load() < maxFailures; seed++ {
		seeds <- seed
	}
	close(seeds)
	group.Wait()
	figures.Add("processes", total.Runs)
	figures.Add("kills", total.Kills)
	figures.Add("interrupts", total.Interrupts)
	figures.Add("hosts that could not be reached", total.Outages)
	figures.Add("steps of the clock", total.ClockSteps)
	figures.Add("lost responses", total.LostResponses)
	figures.Add("workers without a connection to the database", total.Partitions)
	figures.Add("requests", total.Requests)
	t.Logf("simulations of the seeds %d to %d: %+v", first, last, total)
}

// simulateSeed runs one simulation, and returns its counts. The result ok is false if
// it has failed.
func simulateSeed(t *testing.T, seed uint64, figures *report.Figures) (counts simulationCounts, ok bool) {
	ok = t.Run(fmt.Sprint(seed), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSimulation(t, seed)
			if seed%3 == 1 {
				s.startWorkers(2 + s.random.IntN(2))
				s.runWorkers()
				figures.Add("seeds of shared crawls", 1)
			} else {
				s.run()
			}
			figures.Add("seeds", 1)
			counts = s.counts
		})
	})
	return counts, ok
}

// A simulation is a crawl of generated hosts with failures.
type simulation struct {
	*testing.T
	seed   uint64
	random *rand.Rand // of the goroutine that causes failures
	net    *network
	hosts  []*simulatedHost
	o      mirror.Options
	dirs   string // contains a directory for each process

	workers *workers // of a shared crawl, or nil

	mu     sync.Mutex
	step   time.Duration // difference between the clock of the crawl and the clock of the bubble
	calm   bool          // no further failures
	life   int           // number of the simulated process
	counts simulationCounts
	log    []string
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	s := &simulation{T: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), net: newNetwork(t)}
	s.dirs = newSimulationDir(t)
	t.Cleanup(s.report)
	s.newHosts()
	s.net.wrap = []fetch.Middleware{s.delayBodies}
	s.o = s.net.options()
	s.o.Seeds = []uri.URI{uri.MustParse("http://h0.example/")}
	s.o.Scope.Reach = mirror.Any
	s.o.Delay = []time.Duration{0, 300 * time.Millisecond, 5 * time.Second}[s.random.IntN(3)]
	s.o.PerHost = 1 + s.random.IntN(3)
	s.o.Hosts = 1 + s.random.IntN(4)
	s.o.Now = s.now
	switch s.random.IntN(3) {
	case 0:
		s.o.Tree = false
	case 1:
		s.o.WARC.Size = 4 << 10
	}
	return s
}

// now is the clock of the crawl.
func (s *simulation) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.step)
}

// dice returns random numbers for an event. They depend only on the seed and on
// the arguments, and not on the order of goroutines.
func (s *simulation) dice(event string, nth uint64) *rand.Rand {
	h := fnv.New64a()
	io.WriteString(h, event)
	return rand.New(rand.NewPCG(s.seed, h.Sum64()+nth))
}

// delayBodies is a middleware that sometimes delays the end of a body, as a slow
// disk would. The commit itself holds a mutex, which stops fake time.
func (s *simulation) delayBodies(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp, err := next.Do(ctx, req)
		if dice := s.dice("disk "+req.URL.String(), 0); err == nil && dice.IntN(20) == 0 {
			resp.Body = &delayedBody{resp.Body, time.Duration(dice.Int64N(int64(20 * time.Second)))}
		}
		return resp, err
	})
}

// A delayedBody waits before it returns the end of the body.
type delayedBody struct {
	io.ReadCloser
	delay time.Duration
}

func (b *delayedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		time.Sleep(b.delay)
		b.delay = 0
	}
	return n, err
}

// run runs processes until the crawl is complete, and checks its archive.
func (s *simulation) run() {
	s.o.Dir = filepath.Join(s.dirs, "0")
	for range 1 + s.random.IntN(6) {
		if s.process() && s.random.IntN(2) == 0 {
			break
		}
		s.checkArchive(false)
		if s.Failed() {
			return
		}
		time.Sleep(time.Duration(s.random.Int64N(int64(30 * time.Second))))
	}
	s.mu.Lock()
	s.calm = true
	s.mu.Unlock()
	s.restoreHosts()
	for range 4 {
		s.newProcess()
		sum, err := mirror.Run(s.Context(), s.o)
		s.note("last run: %+v, %v", sum, err)
		if err != nil {
			s.Errorf("without a failure: %v", err)
			return
		}
		status, err := mirror.Open(mirror.Location{Dir: s.o.Dir}).Status(s.Context())
		if err == nil && status.States[mirror.Dead]+status.States[mirror.Pending]+sum.Unreached == 0 {
			s.checkArchive(true)
			return
		}
		time.Sleep(time.Hour)
	}
	s.Error("the crawl does not end")
}

// newProcess starts the life of a process.
func (s *simulation) newProcess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life++
	s.counts.Runs++
	for _, h := range s.hosts {
		h.starts, h.lastPath = nil, ""
	}
}

// process runs the crawl as one process with failures. It returns true if the
// process was not stopped.
func (s *simulation) process() bool {
	s.newProcess()
	ctx, cancel := context.WithCancelCause(s.Context())
	defer cancel(nil)
	ended := make(chan error, 1)
	o := s.o
	go func() {
		sum, err := mirror.Run(ctx, o)
		s.note("run: %+v, %v", sum, err)
		ended <- err
	}()
	for range 40 {
		select {
		case err := <-ended:
			if err != nil {
				s.Errorf("run: %v", err)
			}
			return true
		case <-time.After(time.Duration(s.random.Int64N(int64(15 * time.Second)))):
		}
		if s.failure(cancel) {
			<-ended
			return false
		}
	}
	if err := <-ended; err != nil {
		s.Errorf("run: %v", err)
	}
	return true
}

var (
	errKilled      = errors.New("killed")
	errInterrupted = errors.New("interrupted")
)

// failure causes a random failure. It returns true if the failure ends the
// process.
func (s *simulation) failure(cancel context.CancelCauseFunc) bool {
	switch s.random.IntN(12) {
	case 0: // a kill keeps the files in their present state
		synctest.Wait()
		s.note("kill")
		next := filepath.Join(s.dirs, fmt.Sprint(s.life))
		if err := os.CopyFS(next, os.DirFS(s.o.Dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.Fatal(err)
		}
		s.mu.Lock()
		s.counts.Kills++
		s.mu.Unlock()
		s.o.Dir = next
		cancel(errKilled)
		return true
	case 1:
		s.note("interrupt")
		s.mu.Lock()
		s.counts.Interrupts++
		s.mu.Unlock()
		cancel(errInterrupted)
		return true
	case 2, 3, 4:
		h := s.hosts[s.random.IntN(len(s.hosts))]
		s.note("outage of %s", h.name)
		h.fail(time.Duration(s.random.Int64N(int64(10*time.Minute))), s.random.IntN(2) == 0)
	case 5:
		s.mu.Lock()
		s.counts.ClockSteps++
		s.step += time.Duration(s.random.Int64N(int64(48*time.Hour))) - 24*time.Hour
		s.mu.Unlock()
		s.note("step of the clock to %v", s.step)
	}
	return false
}

// restoreHosts ends all outages.
func (s *simulation) restoreHosts() {
	for _, h := range s.hosts {
		h.fail(0, false)
	}
}

// serveHTTP is the handler of a host.
func (h *simulatedHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	nth, end := h.begin(r)
	defer end()
	h.checkActive(r)
	s := h.s
	dice := s.dice("request "+h.name+r.RequestURI, nth)
	select {
	case <-time.After(time.Duration(dice.Int64N(int64(h.slowness)))):
	case <-r.Context().Done(): // an interrupted process has closed the connection, and may release the host
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	calm, down, silent := s.calm, time.Now().Before(h.downUntil), h.silent
	h.aborted[r.RequestURI] = down
	s.mu.Unlock()
	switch {
	case down && silent:
		select {
		case <-r.Context().Done():
		case <-time.After(time.Hour):
		}
		panic(http.ErrAbortHandler)
	case down:
		panic(http.ErrAbortHandler)
	case calm:
	case dice.IntN(25) == 0:
		s.mu.Lock()
		s.counts.LostResponses++
		s.mu.Unlock()
		h.cut(w, r)
	case dice.IntN(25) == 0:
		w.Header().Set("Retry-After", "7")
		http.Error(w, "later", http.StatusServiceUnavailable)
		return
	}
	h.pages.ServeHTTP(w, r)
}
