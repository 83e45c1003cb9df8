package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// TestRestart opens a frontier with pending URLs, after Close and after a power
// failure. With the build tag soak, TestSoakRestart opens a frontier with a
// million URLs and checks the time that it takes.
func TestRestart(t *testing.T) { restart(t, 5000, 0) }

func restart(t *testing.T, urls int, limit time.Duration) {
	ctx := t.Context()
	place := filepath.Join(t.TempDir(), "front.db")
	f := newFrontier(t, place)
	timed(t, "add", 0, func() {
		for n := 0; n < urls; n += batchSize {
			if _, err := f.Add(ctx, pages(n, min(n+batchSize, urls))); err != nil {
				t.Fatal(err)
			}
		}
	})
	timed(t, "visit a fifth", 0, func() { work(t, f, urls/5, nil) })
	before, err := f.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	copied := copyPlace(t, place) // with the log that a power failure leaves
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"after Close": place, "after a power failure": copied} {
		timed(t, "open and claim, "+name, limit, func() {
			if f, err = sqlite.Open(ctx, at); err != nil {
				t.Fatal(err)
			}
			ls, err := f.Claim(ctx, "w", 16, batchSize, time.Minute)
			if err != nil || len(ls) != 16 {
				t.Errorf("claimed %d hosts, %v", len(ls), err)
			}
		})
		after, err := f.Stats(ctx)
		if err != nil || after.URLs != int64(urls) || after.States[frontier.Done] != before.States[frontier.Done] || after.Captures != before.Captures {
			t.Errorf("%s: %+v, %v; before %+v", name, after, err, before)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// timed logs the time that f takes, which must not exceed limit. A limit of 0
// means no limit.
func timed(t *testing.T, what string, limit time.Duration, f func()) {
	t.Helper()
	start, cpu := time.Now(), processor()
	f()
	took := time.Since(start)
	t.Logf("%s: %v, %v of a processor", what, took.Round(time.Millisecond), (processor() - cpu).Round(time.Millisecond))
	if limit > 0 && took > limit {
		t.Errorf("%s took %v; want at most %v", what, took, limit)
	}
}
