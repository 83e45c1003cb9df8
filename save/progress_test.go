package save_test

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/uri"
)

// A slowBody returns 1000 bytes per Read, one Read every 200 milliseconds.
type slowBody struct{ left int }

func (b *slowBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(200 * time.Millisecond)
	b.left--
	return copy(p, make([]byte, 1000)), nil
}

func (b *slowBody) Close() error { return nil }

// newSlowClient returns a Client for slow:/, an object of 50 KB with a rate of
// 5000 bytes per second. It supports ranges of whole KB.
func newSlowClient() *fetch.Client {
	open := func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		body := &slowBody{50 - int(req.Range.First)/1000}
		return &fetch.Response{Kind: fetch.Document, Size: 50_000, Offset: req.Range.First, Validator: "v1", Body: body}, nil
	}
	return fetch.New(fetch.Options{Policy: fetch.Typed()},
		fetch.Scheme{Name: "slow", Open: func(fetch.Env) fetch.Driver { return fetch.DriverFunc(open) }})
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newSlowClient()
		defer client.Close()
		var all []save.Progress
		o := save.Options{Progress: func(p save.Progress) { all = append(all, p) }}
		req := &fetch.Request{URL: uri.MustParse("slow:/")}
		if _, err := save.Fetch(t.Context(), client, req, filepath.Join(t.TempDir(), "out"), o); err != nil {
			t.Fatal(err)
		}
		if len(all) != 52 {
			t.Fatalf("%d reports, want 52", len(all))
		}
		first, middle, last := all[0], all[25], all[51]
		if first.Bytes != 0 || first.Size != 50_000 || first.Rate != 0 || first.Result != nil {
			t.Errorf("first report: %+v", first)
		}
		if middle.Bytes != 25_000 || middle.Elapsed != 5*time.Second || math.Abs(middle.Rate-5000) > 1 {
			t.Errorf("report in the middle: %+v", middle)
		}
		if last.Bytes != 50_000 || last.Result == nil || last.Result.Bytes != 50_000 {
			t.Errorf("last report: %+v", last)
		}
		for i, want := range []string{
			"0 of 50000 bytes", "25000 of 50000 bytes, 5000 bytes/s, 5s left", "50000 of 50000 bytes, 5000 bytes/s, 0s left",
		} {
			if got := []save.Progress{first, middle, last}[i].String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// TestWatchBreak checks that the end of the loop cancels the download, and that
// the next call resumes it.
func TestWatchBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newSlowClient()
		defer client.Close()
		path := filepath.Join(t.TempDir(), "out")
		watch := save.Watch(t.Context(), client, "slow:/", path)
		for p, err := range watch {
			if err != nil {
				t.Fatal(err)
			}
			if p.Bytes >= 20_000 {
				break
			}
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file exists after the loop ended: %v", err)
		}
		var first, last save.Progress
		for p, err := range watch {
			if err != nil {
				t.Fatal(err)
			}
			if first.Size == 0 {
				first = p
			}
			last = p
		}
		if first.Bytes != 20_000 || last.Result == nil || last.Result.Resumed != 20_000 || last.Bytes != 50_000 {
			t.Errorf("first %+v, last %+v", first, last)
		}
		if math.Abs(last.Rate-5000) > 1 {
			t.Errorf("the rate %f includes the resumed bytes", last.Rate)
		}
	})
}

// TestWatchError checks that an error is the last value.
func TestWatchError(t *testing.T) {
	client := newSlowClient()
	defer client.Close()
	for url, want := range map[string]fetch.Fault{"other:/": fetch.Unsupported, "no url": fetch.BadURL} {
		var faults []fetch.Fault
		for _, err := range save.Watch(t.Context(), client, url, filepath.Join(t.TempDir(), "out")) {
			faults = append(faults, fetch.FaultOf(err))
		}
		if len(faults) != 1 || faults[0] != want {
			t.Errorf("%s: faults %v", url, faults)
		}
	}
}

// TestExistingFile checks what a resumed download does with a complete file.
func TestExistingFile(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       save.Options
		resumed int64
		want    fetch.Fault
	}{
		{"replaced", save.Options{Resume: true}, 0, 0},
		{"continued", save.Options{Resume: true, Existing: save.Continue}, 10_000, 0},
		{"continued without Resume", save.Options{Existing: save.Continue}, 0, fetch.Usage},
		{"refused", save.Options{Resume: true, Existing: save.Refuse}, 0, fetch.Exists},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := newSlowClient()
			defer client.Close()
			path := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path, make([]byte, 10_000), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := save.Fetch(t.Context(), client, &fetch.Request{URL: uri.MustParse("slow:/")}, path, c.o)
			if fetch.FaultOf(err) != c.want || r.Resumed != c.resumed || c.want == 0 && r.Bytes != 50_000 {
				t.Errorf("%s: %+v, %v", c.name, r, err)
			}
		})
	}
}

// TestRemaining checks when the remaining time is known.
func TestRemaining(t *testing.T) {
	for _, c := range []struct {
		name string
		p    save.Progress
		left time.Duration
		ok   bool
		text string
	}{
		{"zero value", save.Progress{}, 0, true, "0 of 0 bytes, 0s left"},
		{"no rate yet", save.Progress{Size: 10}, 0, false, "0 of 10 bytes"},
		{"unknown size", save.Progress{Bytes: 5, Size: -1, Rate: 2}, 0, false, "5 bytes, 2 bytes/s"},
		{"rounded", save.Progress{Bytes: 1, Size: 10, Rate: 2}, 5 * time.Second, true, "1 of 10 bytes, 2 bytes/s, 5s left"},
		{"more than announced", save.Progress{Bytes: 11, Size: 10, Rate: 2}, 0, false, "11 of 10 bytes, 2 bytes/s"},
		{"more than a year", save.Progress{Size: 1 << 50, Rate: 1}, 0, false, "0 of 1125899906842624 bytes, 1 bytes/s"},
		{"a year", save.Progress{Size: 365 * 24 * 3600, Rate: 1}, 365 * 24 * time.Hour, true, "0 of 31536000 bytes, 1 bytes/s, 8760h0m0s left"},
		{"complete", save.Progress{Bytes: 10, Size: 10}, 0, true, "10 of 10 bytes, 0s left"},
	} {
		if left, ok := c.p.Remaining(); left != c.left || ok != c.ok || c.p.String() != c.text {
			t.Errorf("%s: got %v, %t, %q", c.name, left, ok, c.p)
		}
	}
}
