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
// million URLs and checks the processor time that it takes.
func TestRestart(t *testing.T) { restart(t, 5000) }

// restart returns the processor time that adding the URLs took, and the largest one
// that opening the frontier took.
func restart(t *testing.T, urls int) (added, opened time.Duration) {
	ctx := t.Context()
	place := filepath.Join(t.TempDir(), "front.db")
	f := newFrontier(t, place)
	added = timed(t, "add", func() {
		for n := 0; n < urls; n += batchSize {
			if _, err := f.Add(ctx, pages(n, min(n+batchSize, urls))); err != nil {
				t.Fatal(err)
			}
		}
	})
	timed(t, "visit a fifth", func() { work(t, f, urls/5, nil) })
	before, err := f.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	copied := copyPlace(t, place) // with the log that a power failure leaves
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"after Close": place, "after a power failure": copied} {
		opened = max(opened, timed(t, "open and claim, "+name, func() {
			if f, err = sqlite.Open(ctx, at); err != nil {
				t.Fatal(err)
			}
			ls, err := f.Claim(ctx, "w", 16, batchSize, time.Minute)
			if err != nil || len(ls) != 16 {
				t.Errorf("claimed %d hosts, %v", len(ls), err)
			}
		}))
		after, err := f.Stats(ctx)
		if err != nil || after.URLs != int64(urls) || after.States[frontier.Done] != before.States[frontier.Done] || after.Captures != before.Captures {
			t.Errorf("%s: %+v, %v; before %+v", name, after, err, before)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	return added, opened
}

// timed logs the time that f takes, and returns its processor time.
func timed(t *testing.T, what string, f func()) time.Duration {
	t.Helper()
	start, cpu := time.Now(), processor()
	f()
	took := processor() - cpu
	t.Logf("%s: %v, %v of a processor", what, time.Since(start).Round(time.Millisecond), took.Round(time.Millisecond))
	return took
}
