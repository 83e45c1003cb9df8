package sqlite_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	database "github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

const pageSize = 4096

// closedFrontier creates a database with URLs and closes it.
func closedFrontier(t *testing.T, urls int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "front.db")
	f := newFrontier(t, path)
	_, _, err := f.Begin(t.Context(), nil)
	for i := range urls {
		u := fmt.Sprint("http://a.example/", i)
		if err == nil {
			_, err = f.Add(t.Context(), []frontier.Item{{Key: frontier.KeyOf(u), URL: u, Host: "a.example"}})
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// rootPage returns the number of the root page of a table.
func rootPage(t *testing.T, path, table string) int {
	t.Helper()
	db, err := database.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	root := 0
	if err := db.Scan("select rootpage from sqlite_schema where name=?", []any{table}, &root); err != nil {
		t.Fatal(err)
	}
	return root
}

// pageGraph returns the database at path with a chain of 17 interior pages, which
// starts at the page root. Each of them has the next one as its child many times,
// so that a query of the table would visit the last page 300^17 times.
func pageGraph(t *testing.T, path string, root int) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const chain = 17
	page := func(n int) []byte { return file[(n-1)*pageSize : n*pageSize] }
	last := len(file)/pageSize + chain
	file = append(file, make([]byte, chain*pageSize)...)
	binary.BigEndian.PutUint32(file[28:], uint32(last)) // number of pages
	header := 0
	if root == 1 {
		header = 100
	}
	leaf := page(last)
	copy(leaf, page(root)[header:])
	if root == 1 { // the cells lie at their offsets in the page
		copy(leaf[header:], page(1)[header+8:])
		copy(leaf[8:], page(1)[header+8:header+8+2*int(binary.BigEndian.Uint16(page(1)[header+3:]))])
		copy(leaf[200:], page(1)[200:])
	}
	writeInterior(page(root), header, last-chain+1)
	for n := last - chain + 1; n < last; n++ {
		writeInterior(page(n), 0, n+1)
	}
	return file
}

// TestPageGraph opens databases in which a query of a table would not end. SQLite
// itself queries the tables of statistics when it reads the schema.
func TestPageGraph(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"url", "host", "capture", "sqlite_schema", "sqlite_stat1", "sqlite_stat4"} {
		path := closedFrontier(t, 5)
		if strings.HasPrefix(table, "sqlite_stat") {
			c, err := database.Open(path)
			if err == nil {
				err = errors.Join(c.Script("analyze; pragma wal_checkpoint(truncate)"), c.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		root := 1
		if table != "sqlite_schema" {
			root = rootPage(t, path, table)
		}
		if err := os.WriteFile(path, pageGraph(t, path, root), 0o666); err != nil {
			t.Fatal(err)
		}
		checkRefused(t, table, path)
	}
}

// TestIncompletePage opens a database whose last page is the child of the root page
// of the schema, but lacks its last byte, which SQLite replaces by zero.
func TestIncompletePage(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	file := pageGraph(t, path, 1)
	last := append([]byte(nil), file[len(file)-17*pageSize:][:pageSize]...) // the child of the root page
	cells := last[pageSize-300*6:]
	copy(last[2000:], cells[:6]) // at offsets before the end of the page
	for i := range 300 {
		binary.BigEndian.PutUint16(last[12+2*i:], 2000)
	}
	file = append(file, last[:pageSize-1]...)
	pages := uint32(len(file)/pageSize + 1)
	binary.BigEndian.PutUint32(file[28:], pages)
	writeInterior(file[:pageSize], 100, int(pages))
	binary.BigEndian.PutUint16(file[103:], 90) // not more children than a schema may have
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	checkRefused(t, "the last page", path)
}

// checkRefused checks that Open reports damage.
func checkRefused(t *testing.T, name, path string) {
	t.Helper()
	f, err := sqlite.Open(t.Context(), path)
	if err == nil {
		f.Close()
	}
	if !errors.Is(err, frontier.ErrDamaged) {
		t.Errorf("%s: error %v, want %v", name, err, frontier.ErrDamaged)
	}
}

// TestLargeRows reads the first of many large rows. Memory must not be needed for
// all rows of a page. All rows must be read in the end.
func TestLargeRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a database of 64 MiB")
	}
	path := closedFrontier(t, 5)
	c, err := database.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 64
	for range rows {
		err = errors.Join(err, c.Exec("insert into unlogged (line) values (zeroblob(1<<20))"))
	}
	if err = errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for line, err := range f.Unlogged(t.Context()) {
		if err != nil || len(line) != 1<<20 {
			t.Fatalf("a line of %d bytes, %v", len(line), err)
		}
		if n++; n == 1 {
			runtime.ReadMemStats(&after)
		}
	}
	if used := after.TotalAlloc - before.TotalAlloc; n != rows || used > 16<<20 {
		t.Errorf("%d rows; %d bytes allocated before the first one", n, used)
	}
}

// TestClaimLargeRows claims items with large texts. Each claim returns some of them,
// and the items of all claims are complete.
func TestClaimLargeRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes large rows")
	}
	t.Parallel()
	f := newFrontier(t, filepath.Join(t.TempDir(), "front.db"))
	defer f.Close()
	const count = 32
	_, _, err := f.Begin(t.Context(), nil)
	for i := range count {
		u := fmt.Sprint("http://a.example/", i)
		it := frontier.Item{Key: frontier.KeyOf(u), URL: u, Host: "a.example", Meta: make([]byte, 1<<20)}
		if err == nil {
			_, err = f.Add(t.Context(), []frontier.Item{it})
		}
	}
	var leases []*frontier.Lease
	if err == nil {
		leases, err = f.Claim(t.Context(), "w", 1, count, time.Minute)
	}
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	items, claims := leases[0].Items, 0
	for n := len(items); n > 0 && claims <= count; claims++ {
		more, err := f.ClaimMore(t.Context(), leases[0], count)
		if n = len(more); err != nil || n > 4 {
			t.Fatalf("%d items in a claim, %v", n, err)
		}
		items = append(items, more...)
	}
	if len(items) != count || len(leases[0].Items) > 4 {
		t.Errorf("%d items, %d of them in the first claim", len(items), len(leases[0].Items))
	}
}

// writeInterior makes a page an interior page of a table with 300 children, all
// of which are the same page. A small page has fewer children.
func writeInterior(page []byte, header, child int) {
	cells := min(300, (len(page)-header-12)/8)
	clear(page[header:])
	page[header] = 5
	at := len(page)
	for i := range cells {
		at -= 6
		binary.BigEndian.PutUint32(page[at:], uint32(child))
		page[at+4], page[at+5] = 0x80|byte(i>>7), byte(i&0x7f)
		binary.BigEndian.PutUint16(page[header+12+2*i:], uint16(at))
	}
	binary.BigEndian.PutUint16(page[header+3:], uint16(cells))
	binary.BigEndian.PutUint16(page[header+5:], uint16(at))
	binary.BigEndian.PutUint32(page[header+8:], uint32(child))
}

// TestRollbackJournal opens a database with a rollback journal that names a
// super-journal. Open must not read the journal, because SQLite would load the
// super-journal.
func TestRollbackJournal(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	super := path + "-super"
	journal := make([]byte, 512) // header of a journal without pages
	copy(journal, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	sum := uint32(0)
	for _, c := range []byte(super) {
		sum += uint32(c)
	}
	journal = append(journal, 0, 0, 0, 0) // name of the super-journal, as SQLite writes it
	journal = append(journal, super...)
	journal = binary.BigEndian.AppendUint32(journal, uint32(len(super)))
	journal = binary.BigEndian.AppendUint32(journal, sum)
	journal = append(journal, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"...)
	if err := errors.Join(os.WriteFile(path+"-journal", journal, 0o666), os.WriteFile(super, []byte(path+"-journal\x00"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"Open": func() error {
			f, err := sqlite.Open(t.Context(), path)
			if err == nil {
				f.Close()
			}
			return err
		},
		"CheckFile": func() error { return sqlite.CheckFile(t.Context(), path) },
	} {
		if err := open(); err == nil || !strings.Contains(err.Error(), "rollback journal") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	after, err := os.ReadFile(path)
	if _, gone := os.Stat(super); string(after) != string(before) || err != nil || gone != nil {
		t.Errorf("the database or the super-journal has changed: %v, %v", err, gone)
	}
	if err := os.Truncate(path+"-journal", 0); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.CheckFile(t.Context(), path); err != nil {
		t.Errorf("empty journal: %v", err)
	}
}

// TestCheckTimes checks that Check finds a time of a capture that no file of an
// archive can contain, although the database has no digest.
func TestCheckTimes(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		"time = 1154755123200000000", "modified = 1154755123200000000", "modified = -99999999999999999",
	} {
		path := filepath.Join(t.TempDir(), "front.db")
		f := newFrontier(t, path)
		db, err := database.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(db.Script(`insert into capture (item, run, time, modified, kind, media, code, size, validator, path, at, bytes, record, proof)
			values (1, 1, 0, 0, '', '', 0, 0, '', '', 0, 0, '', '')`), f.Check(t.Context()), db.Script("update capture set "+change), db.Close())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(t.Context()); !errors.Is(err, frontier.ErrDamaged) {
			t.Errorf("%s: error %v, want %v", change, err, frontier.ErrDamaged)
		}
		f.Close()
	}
}

// TestImmutable checks that a database of version 5 can be read without an
// upgrade, and that its digest is verified. A database of version 4 cannot.
func TestImmutable(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	change := func(script string) {
		t.Helper()
		db, err := database.Open(path)
		if err == nil {
			err = errors.Join(db.Script(script), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change("drop table unlogged; pragma user_version = 5")
	if err := sqlite.SealRows(path); err != nil {
		t.Fatal(err)
	}
	check := func() error {
		f, err := sqlite.OpenImmutable(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Check(t.Context())
	}
	if err := check(); err != nil {
		t.Errorf("version 5: %v", err)
	}
	change("update url set depth = 7 where id = 3")
	if err := check(); !errors.Is(err, frontier.ErrDamaged) {
		t.Errorf("changed row: %v", err)
	}
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, frontier.ErrDamaged) {
		t.Errorf("upgrade with a changed row: %v", err)
	}
	change("drop table control; drop table counter; pragma user_version = 4")
	if err := check(); err == nil || !strings.Contains(err.Error(), "must be upgraded") {
		t.Errorf("version 4: %v", err)
	}
}
