package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/frontiertest"
)

// server is a PostgreSQL server with a schema for each test.
type server struct {
	*peer.Server
	schemas atomic.Int64
}

// place returns the URL of a new schema.
func (s *server) place(testing.TB) string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl%d", s.Addr, s.schemas.Add(1))
}

// crash restarts the server as after a power failure, in which it recovers from
// its log.
func (s *server) crash(_ testing.TB, place string) string {
	s.Restart()
	return place
}

func openClock(ctx context.Context, place string, now func() time.Time) (frontier.Frontier, error) {
	return shareable(open(ctx, place, &frontier.Worker{}, &engine{now: now}))
}

func TestMain(m *testing.M) {
	frontiertest.Main(frontiertest.Engine{Open: openClock})
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestPostgres(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	frontiertest.Run(t, frontiertest.Engine{Place: s.place, Open: openClock, Lasts: true, Copy: s.crash})
}

// TestLivingWorker checks that a process cannot run a worker that another process
// runs, and that a process that ended does not prevent its successor.
func TestLivingWorker(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	dsn := s.place(t)
	join := func(place string, incarnation int64) (frontier.Frontier, error) {
		return New(dsn).Join(t.Context(), &frontier.Worker{Name: "w", Folder: "f", Place: place, Incarnation: incarnation})
	}
	first, err := join("here", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if copied, err := join("elsewhere", 1); !errors.Is(err, frontier.ErrRunning) || !strings.Contains(err.Error(), "here") {
		t.Errorf("a copy of the folder, while the worker runs: %v, %v", copied, err)
	}
	if _, err := New(dsn).Join(t.Context(), &frontier.Worker{Name: "w", Folder: "other"}); !errors.Is(err, frontier.ErrOtherFolder) {
		t.Errorf("another folder: %v", err)
	}
	if _, _, err := first.Begin(t.Context(), nil); err != nil {
		t.Errorf("the living worker: %v", err)
	}

	// A process that has the lock of the same folder proves that the first process
	// ended, although the server has not noticed the end of its connections.
	second, err := join("here", 1)
	if err != nil {
		t.Fatalf("the same folder: %v", err)
	}
	if _, _, err := first.Begin(t.Context(), nil); !errors.Is(err, frontier.ErrRunning) {
		t.Errorf("the first process after its replacement: %v", err)
	}
	second.Close()
	third, err := join("elsewhere", 1)
	if err != nil {
		t.Fatalf("a moved folder, at once after the end of its process: %v", err)
	}
	third.Close()
}

// TestJoinConflict checks that a worker can join although the first attempt fails
// at its commit.
func TestJoinConflict(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	f, err := openClock(t.Context(), s.place(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := f.(*engine)
	_, err = e.pool.Exec(t.Context(), `create sequence attempt;
		create function fail_once() returns trigger language plpgsql as $$ begin
			if nextval('attempt') = 1 then raise exception 'conflict' using errcode = '40001'; end if;
			return null;
		end $$;
		create constraint trigger fail_once after insert on worker deferrable initially deferred
			for each row execute function fail_once()`)
	if err != nil {
		t.Fatal(err)
	}
	e.worker = frontier.Worker{Name: "w", Folder: "f"}
	if err := e.join(t.Context()); err != nil || e.worker.Incarnation != 1 {
		t.Errorf("joined as incarnation %d: %v", e.worker.Incarnation, err)
	}
}

// TestIdleTransaction checks that a worker that stops in a transaction does not
// stop other workers for longer than idleTime, and that it continues afterwards.
func TestIdleTransaction(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place := s.place(t)
	stopped, err := New(place).Join(t.Context(), &frontier.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Close()
	other, err := New(place).Join(t.Context(), &frontier.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	attempts := 0
	err = stopped.(*engine).write(t.Context(), shared, func(*tx) error {
		if attempts++; attempts > 1 {
			return nil
		}
		_, _, err := other.Begin(t.Context(), nil) // waits for the lock of this transaction
		return err
	})
	if err != nil || attempts != 2 {
		t.Errorf("%d attempts, %v; want 2 attempts", attempts, err)
	}
}

// TestOneTime checks that all statements of a transaction use the same time. A host
// whose item becomes ready during Claim must wait for the next Claim.
func TestOneTime(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	start, calls := time.Now(), 0
	f, err := openClock(t.Context(), s.place(t), func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := f.Begin(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	item := frontier.Item{Key: frontier.Key{1}, Host: "h", URL: "http://h/", NotBefore: start.Add(time.Second)}
	if _, err := f.Add(t.Context(), []frontier.Item{item}); err != nil {
		t.Fatal(err)
	}
	f.(*engine).now = func() time.Time {
		if calls++; calls == 2 {
			return start.Add(time.Minute)
		}
		return start
	}
	for i := range 2 {
		if ls, err := f.Claim(t.Context(), "w", 1, 1, time.Hour); err != nil || len(ls) != i {
			t.Errorf("Claim %d: %d leases, %v; want %d", i+1, len(ls), err, i)
		}
	}
}

// TestExpiredLease checks that a host is not claimed before the delay of the run
// has passed after the end of its lease, although a new URL is ready.
func TestExpiredLease(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	at := time.Now()
	now := func() time.Time { return at }
	f, err := open(t.Context(), s.place(t), &frontier.Worker{Pause: 10 * time.Second}, &engine{now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := f.Begin(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		wait time.Duration
		want int // number of leases
	}{{0, 1}, {time.Minute + time.Second, 0}, {9 * time.Second, 1}} {
		at = at.Add(step.wait)
		url := fmt.Sprint("http://h/", i)
		if _, err := f.Add(t.Context(), []frontier.Item{{Key: frontier.KeyOf(url), Host: "h", URL: url}}); err != nil {
			t.Fatal(err)
		}
		if ls, err := f.Claim(t.Context(), "w", 1, 1, time.Minute); err != nil || len(ls) != step.want {
			t.Errorf("Claim after %v: %d leases, %v; want %d", step.wait, len(ls), err, step.want)
		}
	}
}

// TestOutage checks that a worker reports the start and the end of an outage once,
// although several calls wait for the database.
func TestOutage(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	reports := make(chan error, 100)
	f, err := New(s.place(t)).Join(t.Context(), &frontier.Worker{Outage: func(err error) { reports <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.Stop()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if _, err := f.Stats(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	if err := <-reports; err == nil {
		t.Error("the first report is the end of an outage")
	}
	s.Restart()
	calls.Wait()
	close(reports)
	last := errors.New("the outage has no end")
	for err := range reports {
		if (err == nil) == (last == nil) { // a call can report its error after the end
			t.Errorf("got the report %v after %v", err, last)
		}
		last = err
	}
	if last != nil {
		t.Error(last)
	}
}
