package wrap

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestStandard checks the order of the middlewares: log and progress see one
// response per call, the cache is outside of the retries, and each attempt
// waits for its host.
func TestStandard(t *testing.T) {
	var log bytes.Buffer
	var ended, waits, attempts int
	req := &fetch.Request{URL: uri.MustParse("gopher://h/1")}
	driver := fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		if attempts++; attempts == 1 {
			return nil, fetch.TryLater.Errorf("busy")
		}
		return &fetch.Response{Kind: fetch.Menu, Size: 2, Body: io.NopCloser(strings.NewReader(".\n"))}, nil
	})
	chain := fetch.Driver(driver)
	all := Standard(Options{
		Log:   slog.New(slog.NewTextHandler(&log, nil)),
		Cache: &CacheOptions{},
		Retry: RetryOptions{Delay: time.Nanosecond},
		Progress: func(e Event) {
			if e.State == Ended {
				ended++
			}
		},
		Polite: &PoliteOptions{Rule: func(fetch.Driver) Rule {
			return func(context.Context, *fetch.Request) (time.Duration, error) { waits++; return 0, nil }
		}},
	})
	for i := range all {
		chain = all[len(all)-1-i](chain)
	}
	for range 2 {
		resp, err := chain.Do(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != ".\n" || err != nil {
			t.Errorf("body %q, %v", body, err)
		}
		resp.Body.Close()
	}
	if logged := strings.Count(log.String(), "msg=body"); logged != 2 || ended != 2 || attempts != 2 || waits != 2 {
		t.Errorf("2 responses: %d logged, %d ended, of %d attempts and %d waits, want 2 of each", logged, ended, attempts, waits)
	}
	for _, wrap := range Standard(Options{Retry: RetryOptions{Attempts: 1}}) {
		if _, err := wrap(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
			return nil, fetch.TryLater.Errorf("busy")
		})).Do(t.Context(), req); fetch.FaultOf(err) != fetch.TryLater {
			t.Errorf("got %v", err)
		}
	}
}
