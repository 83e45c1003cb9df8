package mirror_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestRunEndsMeanwhile checks a worker that joins a run, which another worker ends
// before the first call after Begin, or before the first claim. The crawl is
// complete, so the worker has not failed.
func TestRunEndsMeanwhile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		claim bool // the run ends before the first claim
		want  error
	}{{name: "after Begin", want: mirror.ErrComplete}, {name: "before Claim", claim: true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				f, err := newSharedFrontier("sqlite:" + filepath.Join(t.TempDir(), "frontier.db"))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Frontier.Close()
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { io.WriteString(out, "text") }))
				o := w.options("http://a.example/")
				p := &simulatedProcess{s: &simulation{workers: &workers{partition: make([]time.Time, 1)}}, committed: make(chan struct{})}
				o.Tree, o.IgnoreRobots, o.Worker = false, true, "w"
				o.Frontier = endingDatabase{sharedDatabase{f, p}, test.claim}
				if _, err := mirror.Run(t.Context(), o); !errors.Is(err, test.want) {
					t.Errorf("got %v, want %v", err, test.want)
				}
				if got := w.requests(); got != "" {
					t.Errorf("requests: %s", got)
				}
			})
		})
	}
}

// An endingDatabase ends the run in which a worker takes part.
type endingDatabase struct {
	sharedDatabase
	claim bool
}

func (d endingDatabase) Join(ctx context.Context, w *frontier.Worker) (frontier.Shared, error) {
	f, err := d.sharedDatabase.Join(ctx, w)
	return &endingFrontier{f, d.claim}, err
}

// An endingFrontier is a frontier whose run ends after Begin, or before Claim if
// claim is true.
type endingFrontier struct {
	frontier.Shared
	claim bool
}

func (f *endingFrontier) Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error) {
	run, fresh, err = f.Shared.Begin(ctx, note)
	if err == nil && !f.claim {
		err = f.End(ctx)
	}
	return run, fresh, err
}

func (f *endingFrontier) Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) ([]*frontier.Lease, error) {
	if err := f.End(ctx); err != nil && !errors.Is(err, frontier.ErrNoRun) {
		return nil, err
	}
	return f.Shared.Claim(ctx, worker, hosts, perHost, ttl)
}
