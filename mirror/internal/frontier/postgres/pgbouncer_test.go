package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestPgbouncer runs two crawls through PgBouncer in session mode. Each must use
// its own schema, also with further parameters in the URL.
func TestPgbouncer(t *testing.T) {
	db := peer.Postgres(t, false)
	pooler, ctx := peer.Pgbouncer(t, db), t.Context()
	for n, parameters := range []string{"", "&statement_timeout=60000&connect_timeout=9"} {
		place := fmt.Sprintf("postgres://postgres@%s/postgres?search_path=pooled%d%s", pooler.Addr, n, parameters)
		for _, name := range []string{"a", "b"} {
			f, err := New(place).Join(ctx, &frontier.Worker{Name: name, Folder: name})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, _, err := f.Begin(ctx, nil); err != nil {
				t.Fatal(err)
			}
			u := "http://example.org/" + name
			if added, err := f.Add(ctx, []frontier.Item{{Key: frontier.KeyOf(u), URL: u, Host: name}}); added != 1 || err != nil {
				t.Errorf("Add: %d, %v", added, err)
			}
			if leases, err := f.Claim(ctx, name, 4, 4, time.Minute); len(leases) != 1 || err != nil {
				t.Errorf("Claim: %v, %v", leases, err)
			}
		}
	}
	var tables int
	f, err := New(fmt.Sprintf("postgres://postgres@%s/postgres?search_path=pooled0", db.Addr)).View(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := f.(*engine)
	err = e.pool.QueryRow(ctx, "select count(*) from pg_tables where schemaname = 'public'").Scan(&tables)
	if err != nil || tables > 0 {
		t.Errorf("%d tables in the schema public, %v", tables, err)
	}
	stats, err := f.Stats(ctx)
	if err != nil || stats.URLs != 2 {
		t.Errorf("%d URLs, %v; want 2", stats.URLs, err)
	}
}
