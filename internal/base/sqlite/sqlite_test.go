package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/base/sqlite"
)

func open(t *testing.T, uri string) *sqlite.Conn {
	c, err := sqlite.Open(uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestValues reads values that were written before. NULL is read as a zero
// value.
func TestValues(t *testing.T) {
	c := open(t, "file::memory:")
	if err := c.Script("create table v (id integer primary key, i, n, s text, b blob, o); create table other (x);"); err != nil {
		t.Fatal(err)
	}
	type row struct {
		i int64
		n sql.NullInt64
		s string
		b []byte
		o bool
	}
	rows := []row{
		{1 << 62, sql.NullInt64{Int64: -1, Valid: true}, "a\x00é", []byte{0, 1, 2}, true},
		{},
		{s: strings.Repeat("long ", 10_000), b: bytes.Repeat([]byte{7}, 100_000)},
		{s: "", b: nil, i: -5},
	}
	for i, r := range rows {
		if err := c.Exec("insert into v (i, n, s, b, o) values (?, ?, ?, ?, ?)", r.i, r.n, r.s, r.b, r.o); err != nil {
			t.Fatal(err)
		}
		if c.LastID() != int64(i+1) || c.Changes() != 1 {
			t.Errorf("id %d, %d changes", c.LastID(), c.Changes())
		}
	}
	at := 0
	err := c.ForEachRow("select i, n, s, b, o from v order by id", nil, func(r *sqlite.Row) error {
		var have row
		err := r.Scan(&have.i, &have.n, &have.s, &have.b, &have.o)
		want := rows[at]
		if have.i != want.i || have.n != want.n || have.s != want.s || !bytes.Equal(have.b, want.b) || have.o != want.o {
			t.Errorf("row %d: %+v; want %+v", at, have, want)
		}
		at++
		return errors.Join(err, c.Exec("insert into other values (?)", at)) // a statement during the query
	})
	if err != nil || at != len(rows) {
		t.Errorf("%d rows, %v", at, err)
	}
	blob := sqlite.Raw{1}
	if err := c.Scan("select ?", []any{nil}, &blob); err != nil || len(blob) > 0 {
		t.Errorf("NULL is read as %v, %v", blob, err)
	}
	if err := c.Scan("select i from v where id=?", []any{99}, &at); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("query without rows: %v", err)
	}
}

// TestErrors verifies that an error describes its cause and that the connection
// remains usable.
func TestErrors(t *testing.T) {
	c := open(t, "file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "a.db")))
	if err := c.Script("create table v (x integer not null unique)"); err != nil {
		t.Fatal(err)
	}
	insert := "insert into v values (?)"
	var n int64
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"syntax":                        {c.Exec("select from"), "syntax error"},
		"duplicate row":                 {errors.Join(c.Exec(insert, 1), c.Exec(insert, 1)), "UNIQUE constraint failed"},
		"NULL in a column without NULL": {c.Exec(insert, nil), "NOT NULL constraint failed"},
		"missing argument":              {c.Exec(insert), "0 arguments for 1 parameters"},
		"argument type":                 {c.Exec(insert, 1.5), "argument 1 has an unsupported type"},
		"column count":                  {c.Scan("select 1, 2", nil, &n), "2 columns for 1 variables"},
		"variable type":                 {c.Scan("select 1", nil, n), "variable 1 has an unsupported type"},
		"invalid script":                {c.Script("no script"), "syntax error"},
		"query inside itself":           {c.ForEachRow(insert+" returning x", []any{2}, func(*sqlite.Row) error { return c.Exec(insert+" returning x", 3) }), "query is already running"},
		"large row":                     {c.Exec("create table large as select zeroblob(5000000) x"), "too big"},
		"long statement":                {c.Exec("select " + strings.Repeat(" ", 70_000) + "1"), "too big"},
		"attached file":                 {c.Script("attach ':memory:' as b"), "too many attached databases"},
		"no folder":                     {errorOf(sqlite.Open(filepath.Join(t.TempDir(), "no", "a.db"))), "unable to open"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", name, test.err, test.want)
		}
	}
	if err := c.Exec(insert, 9); err != nil {
		t.Error(err)
	}
	if err := c.Script("pragma max_page_count=1"); err != nil {
		t.Error(err)
	}
	if err := c.Exec("insert into v values (?)", strings.Repeat("x", 100_000)); !sqlite.IsFull(err) {
		t.Errorf("%v; want an error for a full disk", err)
	}
	if sqlite.IsFull(c.Exec(insert, 9)) {
		t.Error("existing rows are missing after an error")
	}
}

func errorOf(_ *sqlite.Conn, err error) error { return err }

// TestNoAllocations verifies that statements do not allocate memory for their
// values.
func TestNoAllocations(t *testing.T) {
	c := open(t, "file::memory:")
	text, blob := strings.Repeat("x", 300), []byte("blob")
	var n int64
	per := testing.AllocsPerRun(100, func() {
		if err := c.Scan("select ? || ? is not null + ?", []any{text, blob, 1 << 40}, &n); err != nil {
			t.Fatal(err)
		}
	})
	if per > 0 {
		t.Errorf("%v allocations", per)
	}
}

// TestUntrustedSchema verifies that the schema of a file cannot call functions
// with side effects.
func TestUntrustedSchema(t *testing.T) {
	c := open(t, "file::memory:")
	for _, name := range []string{"trusted_schema", "cell_size_check"} {
		var got int
		if err := c.Scan("pragma "+name, nil, &got); err != nil || got != map[string]int{"trusted_schema": 0, "cell_size_check": 1}[name] {
			t.Errorf("%s is %d, %v", name, got, err)
		}
	}
}

// TestVersion checks that SQLite is new enough. Earlier versions delete files
// that the rollback journal of an untrusted database names.
func TestVersion(t *testing.T) {
	var major, minor, patch int
	var version string
	if err := open(t, "file::memory:").Scan("select sqlite_version()", nil, &version); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		t.Fatal(err)
	}
	if slices.Compare([]int{major, minor, patch}, []int{3, 53, 4}) < 0 {
		t.Errorf("version %s of SQLite, want 3.53.4 or later", version)
	}
}
