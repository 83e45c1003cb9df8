package postgres

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/frontier/frontiertest"
	"github.com/anyurl/fetch/internal/peer"
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
	return open(ctx, place, &Worker{}, now)
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

// TestIdleTransaction checks that a worker that stops in a transaction does not
// stop other workers for longer than idleTime, and that it continues afterwards.
func TestIdleTransaction(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place := s.place(t)
	stopped, err := Open(t.Context(), place, &Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Close()
	other, err := Open(t.Context(), place, &Worker{})
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

// TestOutage checks that a worker reports the start and the end of an outage once,
// although several calls wait for the database.
func TestOutage(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	var mu sync.Mutex
	var reports []error
	f, err := Open(t.Context(), s.place(t), &Worker{Outage: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, err)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.Restart()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if _, err := f.Stats(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if len(reports) != 2 || reports[0] == nil || reports[1] != nil {
		t.Errorf("got the reports %v, want an error and nil", reports)
	}
}
