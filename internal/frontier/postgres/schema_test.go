package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/peer"
)

// TestMigration opens tables of version 1 and tables of a future version.
func TestMigration(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place := s.place(t)
	ctx := t.Context()
	db, err := pgx.Connect(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	if _, err := db.Exec(ctx, "create schema crawl1;"+schemaText+`;
		insert into tally (slot) select generate_series(0, 15); insert into version values (1, 2);
		insert into file (name, ends, worker) values ('old.warc.gz', 100, 'w');
		insert into host (name, due) values ('old', 0);
		insert into url (id, key, state, run, host, prio, depth, wait, url) select nextval('url_id'), ('0123456789abcde' || n)::bytea,
			0, 0, 1, 0, 0, wait, ('old:' || n)::bytea from (values (1, null), (2, 1), (3, 4e15::bigint)) x (n, wait)`); err != nil {
		t.Fatal(err)
	}
	f, err := Open(ctx, place, &Worker{Name: "w", Folder: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ends, err := f.FileEnds(ctx); err != nil || ends["old.warc.gz"] != 100 {
		t.Errorf("files %v, %v; want old.warc.gz", ends, err)
	}
	if _, _, err := f.Begin(ctx, nil); err != nil {
		t.Error(err)
	}
	if n, err := f.Add(ctx, []frontier.Item{{Key: frontier.KeyOf("a:b"), URL: "a:b", Host: "b"}}); err != nil || n != 1 {
		t.Errorf("Add: %d, %v", n, err)
	}
	ls, err := f.Claim(ctx, "w", 1, 10, time.Minute)
	if err != nil || len(ls) != 1 || len(ls[0].Items) != 2 { // the third URL must wait
		t.Errorf("Claim of two old URLs: %v, %v", ls, err)
	}
	if _, err := db.Exec(ctx, "update version set schema = 1000"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, place, &Worker{}); err == nil || !strings.Contains(err.Error(), "version 1000") {
		t.Errorf("tables of a future version: %v", err)
	}
}

// TestSchemaPrivilege opens a schema as a role without privileges.
func TestSchemaPrivilege(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place, ctx := s.place(t), t.Context()
	f, err := Open(ctx, place, &Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.(*engine).pool.Exec(ctx, "create role guest login"); err != nil {
		t.Fatal(err)
	}
	const want = "the role guest has no privilege USAGE on the schema crawl1"
	if _, err := OpenExisting(ctx, strings.Replace(place, "postgres@", "guest@", 1)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
