package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	database "github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"

	zombiezen "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestOpenNames(t *testing.T) {
	t.Chdir(t.TempDir())
	abs := filepath.Join(t.TempDir(), "abs.db")
	for dsn, file := range map[string]string{
		"plain.db":                 "plain.db",
		"sqlite:named.db":          "named.db",
		"sqlite:" + abs:            abs,
		"./dot.db":                 "dot.db",
		"odd ?#%41;&=é.db":         "odd ?#%41;&=é.db",
		"sqlite:a:b.db":            "a:b.db",
		"sqlite:file:x?mode=ro.db": "file:x?mode=ro.db",
		"mem:":                     "",
	} {
		f, err := sqlite.Open(t.Context(), dsn)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		if _, _, err := f.Begin(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
		if _, err := os.Stat(file); file != "" && err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for _, dsn := range []string{"", "postgres://x/y", "sqlite:", "mem:x", "redis:x"} {
		if f, err := sqlite.Open(t.Context(), dsn); f != nil || err == nil || !strings.Contains(err.Error(), "use mem: or sqlite:PATH") {
			t.Errorf("%q: %v, %v; want an error that lists the engines", dsn, f, err)
		}
	}
}

func TestOpenRejects(t *testing.T) {
	dir := t.TempDir()
	place := func(name string, statements ...string) string {
		path := filepath.Join(dir, name)
		if name != "foreign" {
			newFrontier(t, path).Close()
		}
		db, err := database.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if err := db.Script(s); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	beside := place("beside")
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.Symlink(place("real"), link), os.Symlink(elsewhere, beside+"-wal")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := os.Lstat(elsewhere); err == nil {
			t.Error("SQLite wrote its log through a symbolic link")
		}
	})
	for path, want := range map[string]string{
		link:   "not a regular file",
		beside: "not a regular file",
		place("trigger", "create trigger evil after update on book begin delete from url; end"):                             `the trigger "evil", which fetch did not create`,
		place("view", "alter table host rename to h; create view host as select * from h"):                                  `which fetch did not create`,
		place("virtual", "drop table name; create virtual table name using fts5(fold, key)"):                                `which fetch did not create`,
		place("column", "alter table url add column g as (hex(zeroblob(100000000)))"):                                       `the table "url", which fetch did not create`,
		place("expression", "create index e on url(length(hex(url)))"):                                                      `the index "e", which fetch did not create`,
		place("condition", "drop index url_ready; create index url_ready on url (host) where url like '%a'"):                `the index "url_ready", which fetch did not create`,
		place("default", "alter table run add column d default 9"):                                                          `the table "run", which fetch did not create`,
		place("check", "drop table layout; create table layout (version integer not null check (version > 0))"):             `the table "layout", which fetch did not create`,
		place("order", "drop table name; create table name (fold text primary key collate nocase, key blob) without rowid"): `the table "name", which fetch did not create`,
		place("table", "create table x (y)"):                                                                                `the table "x", which fetch did not create`,
		place("statistics", "analyze"):                                                                                      `the pages of the schema are damaged`,
		place("index", "drop index url_ready"):                                                                              `lacks the table or index url_ready`,
		place("newer", "pragma user_version = 99"):                                                                          "written by a newer version of fetch",
		place("foreign", "create table x (y integer)"):                                                                      "not a frontier",
		garbage:                            "not a database",
		dir:                                "unable to open",
		filepath.Join(dir, "no", "folder"): "unable to open",
	} {
		before, _ := os.ReadFile(path)
		f, err := sqlite.Open(t.Context(), path)
		if f != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v; want an error with %q", path, f, err, want)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", path)
		}
	}
}

// TestFullDisk checks that a call on a full disk returns ENOSPC and changes
// nothing, and that calls succeed after space is freed.
func TestFullDisk(t *testing.T) {
	f := newFrontier(t, filepath.Join(t.TempDir(), "front.db"))
	ctx := t.Context()
	if _, err := f.Add(ctx, pages(0, 300)); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.LimitPages(ctx, f, 100); err != nil {
		t.Fatal(err)
	}
	n := 300
	var err error
	for ; err == nil && n < 10_000; n += 100 {
		_, err = f.Add(ctx, pages(n, n+100))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%d items: %v", n, err)
	}
	full, err := f.Stats(ctx)
	if err != nil || full.URLs != int64(n-100) || full.States[frontier.Pending] != full.URLs {
		t.Errorf("%+v, %v; want %d URLs", full, err, n-100)
	}
	if err := sqlite.LimitPages(ctx, f, 1<<20); err != nil {
		t.Fatal(err)
	}
	if added, err := f.Add(ctx, pages(0, 10_000)); err != nil || added != 10_000-int(full.URLs) {
		t.Errorf("after space was freed: %d, %v", added, err)
	}
}

// TestCallErrors checks the error of calls with an expired context and of calls
// after Close.
func TestCallErrors(t *testing.T) {
	f := newFrontier(t, filepath.Join(t.TempDir(), "front.db"))
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for name, err := range calls(ended, f) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s with an expired context: %v", name, err)
		}
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	for name, err := range calls(t.Context(), f) {
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func calls(ctx context.Context, f frontier.Frontier) map[string]error {
	errs := map[string]error{}
	_, errs["Add"] = f.Add(ctx, pages(0, 1))
	_, errs["Claim"] = f.Claim(ctx, "w", 1, 1, time.Minute)
	_, errs["Stats"] = f.Stats(ctx)
	errs["End"] = f.End(ctx)
	for _, err := range f.Captures(ctx) {
		errs["Captures"] = err
	}
	return errs
}

// TestLargeRow checks that a row larger than the limit is an error.
func TestLargeRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "front.db")
	f := newFrontier(t, path)
	if _, err := f.Add(t.Context(), pages(0, 3)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	large, err := zombiezen.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	err = sqlitex.ExecuteTransient(large, "update url set note = zeroblob(20000000) where id = 2", nil)
	if err = errors.Join(err, large.Close()); err != nil {
		t.Fatal(err)
	}
	f, err = sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = nil
	for _, e := range f.Items(t.Context(), frontier.Pending) {
		err = errors.Join(err, e)
	}
	if err == nil || !strings.Contains(err.Error(), "do not trust this archive") {
		t.Errorf("got %v", err)
	}
}

// TestEarlierVersions checks that Open upgrades databases of earlier versions,
// and accepts schema statements that differ in comments and white space.
func TestEarlierVersions(t *testing.T) {
	const before5 = "; drop table control; drop table counter"
	for version, change := range map[int]string{
		1: "drop table layout; drop table seal; alter table capture drop column checksum; drop table file; " +
			"CREATE table file (\n id integer primary key, name text not null unique, -- it\n ends integer\n)" + before5,
		2: "drop table seal; alter table capture drop column checksum" + before5,
		3: "alter table capture drop column checksum" + before5,
		4: before5,
		5: "",
	} {
		path := filepath.Join(t.TempDir(), "front.db")
		f := newFrontier(t, path)
		err := errors.Join(f.Seal(t.Context(), func() ([]byte, error) { return []byte("manifest"), nil }), f.Close())
		db, openErr := database.Open(path)
		if err = errors.Join(err, openErr); err == nil {
			err = errors.Join(db.Script(fmt.Sprintf("drop table unlogged; %s; pragma user_version = %d", change, version)), db.Close())
		}
		if err == nil && version == 5 {
			err = sqlite.SealRows(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if f, err = sqlite.Open(t.Context(), path); err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		defer f.Close()
		if again, err := sqlite.Open(t.Context(), path); err != nil {
			t.Errorf("version %d, opened again: %v", version, err)
		} else {
			again.Close()
		}
		layout := 3
		if version == 1 {
			layout = 1
		}
		if n, err := f.Layout(t.Context()); n != layout || err != nil {
			t.Errorf("version %d: layout %d, %v", version, n, err)
		}
		seal, err := f.ReadSeal(t.Context())
		if err != nil || seal.Rows != (version == 5) || (seal.Manifest != nil) != (version >= 3) {
			t.Errorf("version %d: seal %+v, %v", version, seal, err)
		}
		if err := f.Check(t.Context()); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
	}
}
