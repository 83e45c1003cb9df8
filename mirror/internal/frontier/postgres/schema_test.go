package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
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
	f, err := New(place).Join(ctx, &frontier.Worker{Name: "w", Folder: "x"})
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
	if _, err := New(place).Join(ctx, &frontier.Worker{}); err == nil || !strings.Contains(err.Error(), "version 1000") {
		t.Errorf("tables of a future version: %v", err)
	}
}

// TestSchemaPrivilege opens a schema as a role without privileges.
func TestSchemaPrivilege(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place, ctx := s.place(t), t.Context()
	f, err := New(place).Join(ctx, &frontier.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.(*engine).pool.Exec(ctx, "create role guest login"); err != nil {
		t.Fatal(err)
	}
	const want = "the role guest has no privilege USAGE on the schema crawl1"
	if _, err := New(strings.Replace(place, "postgres@", "guest@", 1)).View(ctx); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestForeignObjects opens a schema whose tables or code another role can change.
// Nothing of the schema may run.
func TestForeignObjects(t *testing.T) {
	s, ctx := &server{Server: peer.Postgres(t, false)}, t.Context()
	db, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres@%s/postgres", s.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	const setup = "create role crawler login; create role mallory login; grant create on database postgres to crawler, mallory; create table public.ran (by text); grant insert on public.ran to public"
	if _, err := db.Exec(ctx, setup); err != nil {
		t.Fatal(err)
	}
	const function = `create function SCHEMA.f() returns trigger language plpgsql as 'begin insert into public.ran values (current_user); return new; end';`
	for _, test := range []struct{ name, sql, want string }{
		{"a trigger", function + "create trigger evil before insert or update on SCHEMA.worker for each row execute function SCHEMA.f()", "trigger evil"},
		{"a table of another role", "alter table SCHEMA.worker owner to mallory", "the relation worker belongs to the role mallory"},
		{"a sequence of another role", "alter sequence SCHEMA.url_id owner to mallory", "belongs to the role mallory"},
		{"a schema of another role", "alter schema SCHEMA owner to mallory; grant all on schema SCHEMA to crawler", "the schema belongs to the role mallory"},
		{"a schema that others can change", "grant create on schema SCHEMA to mallory", "other roles can create"},
		{"a view", "alter table SCHEMA.run rename to other; create view SCHEMA.run as select * from SCHEMA.other; alter view SCHEMA.run owner to crawler", "view run"},
		{"a trigger that another role can create", "grant all on SCHEMA.host to mallory", "for the table host"},
		{"triggers that all roles can create", "grant trigger on SCHEMA.host to public", "for the table host"},
		{"a foreign key that another role can create", "grant references (session) on SCHEMA.receipt to mallory", "privilege REFERENCES for the table receipt"},
		{"a foreign key", "create table public.SCHEMA (n bigint references SCHEMA.run on delete cascade)", "the foreign key SCHEMA_n_fkey"},
		{"a rule", "create rule evil as on update to SCHEMA.worker do also insert into public.ran values (current_user)", "rules"},
		{"an operator", `create function SCHEMA.cat(varchar, text) returns text language sql as 'select $2';
			create operator SCHEMA.|| (leftarg = varchar, rightarg = text, function = SCHEMA.cat)`, "the function cat"},
	} {
		place := strings.Replace(s.place(t), "postgres@", "crawler@", 1)
		_, schema, _ := strings.Cut(place, "search_path=")
		f, err := New(place).Join(ctx, &frontier.Worker{Name: "w", Folder: "x"})
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if _, err := db.Exec(ctx, strings.ReplaceAll(test.sql, "SCHEMA", schema)); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		f, err = New(place).Join(ctx, &frontier.Worker{Name: "w2", Folder: "y"})
		want := strings.ReplaceAll(test.want, "SCHEMA", schema)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", test.name, err, want)
		}
		if err == nil {
			f.Close()
		}
	}
	if _, err := db.Exec(ctx, "alter default privileges for role crawler grant all on tables to mallory"); err != nil {
		t.Fatal(err)
	}
	granted := strings.Replace(s.place(t), "postgres@", "crawler@", 1)
	if f, err := New(granted).Join(ctx, &frontier.Worker{Name: "w", Folder: "x"}); err == nil || !strings.Contains(err.Error(), "privilege") {
		t.Errorf("default privileges: %v, %v", f, err)
	}
	var ran int
	if err := db.QueryRow(ctx, "select count(*) from public.ran").Scan(&ran); err != nil || ran > 0 {
		t.Errorf("code of another role ran %d times, %v", ran, err)
	}
	place := fmt.Sprintf("postgres://crawler@%s/postgres", s.Addr)
	if f, err := New(place).Join(ctx, &frontier.Worker{}); err == nil || !strings.Contains(err.Error(), "search_path=NAME") {
		t.Errorf("no schema: %v, %v", f, err)
	}
	if f, err := New(place+"?search_path=public").Join(ctx, &frontier.Worker{}); err == nil || !strings.Contains(err.Error(), "belongs to the role") {
		t.Errorf("the schema public: %v, %v", f, err)
	}
}

// TestDatabaseOwner checks that the owner of the database, which is another role,
// determines no code with the search_path or the role of new connections.
func TestDatabaseOwner(t *testing.T) {
	s, ctx := &server{Server: peer.Postgres(t, false)}, t.Context()
	execute := func(user, database, sql string) {
		t.Helper()
		db, err := pgx.Connect(ctx, fmt.Sprintf("postgres://%s@%s/%s", user, s.Addr, database))
		if err == nil {
			_, err = db.Exec(ctx, sql)
			db.Close(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	execute("postgres", "postgres", "create role crawler login; create role mallory login; create role team; grant team to mallory with admin option")
	execute("postgres", "postgres", "create database crawls owner mallory")
	execute("mallory", "crawls", `grant team to crawler; grant create on database crawls to crawler, team; create schema evil; grant usage on schema evil to public;
		create function evil.f() returns boolean language plpgsql as $$begin raise 'code of mallory as %', current_user; end$$;
		create domain evil.text as pg_catalog.text check (evil.f()); alter database crawls set search_path = evil, pg_catalog;
		alter database crawls set role = team`)
	join := func(place, folder string) error {
		f, err := New(fmt.Sprintf("postgres://crawler@%s/crawls?%s", s.Addr, place)).Join(ctx, &frontier.Worker{Name: folder, Folder: folder})
		if err == nil {
			err = f.Close()
		}
		return err
	}
	if err := join("search_path=news", "a"); err != nil {
		t.Fatal(err)
	}
	execute("crawler", "crawls", "set role none; alter table news.worker alter column url_rate set default 1") // the role crawler owns the table
	if err := join("search_path=sports&role=team", "a"); err != nil {
		t.Fatal(err)
	}
	execute("mallory", "crawls", "set role team; alter table sports.worker alter column url_rate set default evil.f()::int")
	if err := join("search_path=sports", "b"); err == nil || !strings.Contains(err.Error(), "the schema belongs to the role team") {
		t.Errorf("a schema of the role team: %v", err)
	}
}
