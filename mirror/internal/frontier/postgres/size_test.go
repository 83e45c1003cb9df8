//go:build soak

package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestSoakSize measures the bytes that the database needs for each URL: pending
// URLs first, and then the same URLs with captures.
func TestSoakSize(t *testing.T) {
	const urls = 200_000
	s := &server{Server: peer.Postgres(t, false)}
	f, err := New(s.place(t)).Join(t.Context(), &frontier.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := f.Begin(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	size := func(what string) {
		t.Helper()
		n, err := value[int64](t.Context(), f.(*engine), `select sum(pg_total_relation_size(c.oid))::bigint from pg_class c
			join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema() and c.relkind = 'r'`)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes for each URL", what, n/urls)
	}
	for n := 0; n < urls; n += 1000 {
		var items []frontier.Item
		for i := range 1000 {
			items = append(items, benchPage(n+i))
		}
		if _, err := f.Add(t.Context(), items); err != nil {
			t.Fatal(err)
		}
	}
	size("pending")
	for {
		ls, err := f.Claim(t.Context(), "w", 16, 256, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if len(ls) == 0 {
			break
		}
		for _, l := range ls {
			rs := make([]frontier.Result, len(l.Items))
			for i, item := range l.Items {
				rs[i] = frontier.Result{Item: item, State: frontier.Done, Capture: benchCapture(item)}
			}
			if err := f.Complete(t.Context(), l, rs, map[string]int64{"x-00000.warc.gz": 1 << 31}); err != nil {
				t.Fatal(err)
			}
			if err := f.Release(t.Context(), l, time.Time{}); err != nil {
				t.Fatal(fmt.Errorf("release: %w", err))
			}
		}
	}
	size("retrieved")
	if err := f.(*engine).retry(t.Context(), func(context.Context) error {
		_, err := f.(*engine).pool.Exec(t.Context(), "vacuum (full, analyze)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	size("retrieved, after a complete vacuum")
}
