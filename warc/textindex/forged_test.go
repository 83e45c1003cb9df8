package textindex_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/textindex"
)

// forge changes an index with the given statements.
func forge(t *testing.T, path, script string) {
	t.Helper()
	c, err := sqlite.Open("file:" + textindex.PathOf(path))
	if err == nil {
		err = errors.Join(c.Script(script), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestForgedTree builds an index again whose table doc has the same leaf 300^17
// times. Build must not read all of its rows.
func TestForgedTree(t *testing.T) {
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	open(t, path)
	file := textindex.PathOf(path)
	c, err := sqlite.Open("file:" + file)
	root := 0
	if err == nil {
		err = errors.Join(c.Scan("select rootpage from sqlite_schema where name='doc'", nil, &root), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const pageSize, chain = 4096, 17
	last := len(content)/pageSize + chain
	content = append(content, make([]byte, chain*pageSize)...)
	binary.BigEndian.PutUint32(content[28:], uint32(last)) // number of pages
	page := func(n int) []byte { return content[(n-1)*pageSize : n*pageSize] }
	copy(page(last), page(root)) // the leaf
	writeInterior(page(root), last-chain+1)
	for n := last - chain + 1; n < last; n++ {
		writeInterior(page(n), n+1)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	x, s := open(t, path)
	if s.Replaced == nil || s.Added != 7 {
		t.Errorf("the new index: %+v", s)
	}
	if got := found(t, x, textindex.Query{Words: "returns"}); got != "2024 http://a.example/" {
		t.Errorf("search in the new index: %s", got)
	}
}

// writeInterior makes a page an interior page of a table with 300 children, all
// of which are the same page.
func writeInterior(page []byte, child int) {
	const cells = 300
	clear(page)
	page[0] = 5
	at := len(page)
	for i := range cells {
		at -= 6
		binary.BigEndian.PutUint32(page[at:], uint32(child))
		page[at+4], page[at+5] = 0x80|byte(i>>7), byte(i&0x7f)
		binary.BigEndian.PutUint16(page[12+2*i:], uint16(at))
	}
	binary.BigEndian.PutUint16(page[3:], cells)
	binary.BigEndian.PutUint16(page[5:], uint16(at))
	binary.BigEndian.PutUint32(page[8:], uint32(child))
}

// TestLongRows searches in an index with large values in each row. In a forged
// index, all rows can have the same overflow pages. The memory must not grow with
// the number of results.
func TestLongRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes large rows")
	}
	const rows = 40
	var all []sample
	for i := range rows {
		all = append(all, sample{"20240101", fmt.Sprint("http://a.example/", i), "", page("common word")})
	}
	path := write(t, t.TempDir(), "a.warc.gz", all)
	x, _ := open(t, path)
	for _, script := range []string{"update doc set text=zeroblob(2<<20)", "update doc set text=null, url=replace(hex(zeroblob(1<<20)), '0', 'x')"} {
		forge(t, path, script)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := x.Search(t.Context(), textindex.Query{Words: "common", Limit: rows})
		runtime.ReadMemStats(&after)
		if err != nil || len(r.Hits)+r.Stale != rows {
			t.Errorf("%s: %d results, %d stale, %v", script, len(r.Hits), r.Stale, err)
		}
		// Each text of at most 1 MiB is copied a few times.
		if used := after.TotalAlloc - before.TotalAlloc; used > rows*(5<<20)/2 {
			t.Errorf("%s: %d MiB allocated", script, used>>20)
		}
	}
}

// TestForgedSegments searches in an index that has many segments, or segments with
// many pages of deleted rows. FTS5 needs memory for both before it reads a row.
func TestForgedSegments(t *testing.T) {
	for _, c := range []struct {
		name              string
		segments, deleted int
	}{
		{"pages of deleted rows", 1, 60 << 20},
		{"pages of several segments", 2, 10_000},
		{"segments", 300, 0},
		{"segments of the description only", 6 << 20, 0},
	} {
		path := write(t, t.TempDir(), "a.warc.gz", samples)
		open(t, path)
		forgeSegments(t, path, c.segments, c.deleted)
		before := peak(t)
		a, err := warc.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		x := textindex.New(textindex.PathOf(path), a, byName)
		_, err = x.Search(t.Context(), textindex.Query{Words: "rocket"})
		if used := peak(t) - before; err == nil || used > 64<<20 {
			t.Errorf("%s: %v, %d MiB of memory", c.name, err, used>>20)
		}
		if err := errors.Join(x.Close(), a.Close()); err != nil {
			t.Error(err)
		}
		if _, s := open(t, path); s.Replaced == nil {
			t.Errorf("%s: Build continues the index", c.name)
		}
	}
}

// forgeSegments changes the number of segments of the table word, and the number of
// pages of deleted rows of each segment. The segments are copies of the first one.
func forgeSegments(t *testing.T, path string, segments, deleted int) {
	t.Helper()
	c, err := sqlite.Open("file:" + textindex.PathOf(path))
	if err != nil {
		t.Fatal(err)
	}
	var structure []byte
	if err := c.Scan("select block from word_data where id=10", nil, &structure); err != nil {
		t.Fatal(err)
	}
	first := int64(structure[13]) // after the cookie, the version, three numbers of the index and two of its level
	number := func(b []byte, n int) []byte {
		return append(b, 0x80|byte(n>>28), 0x80|byte(n>>21), 0x80|byte(n>>14), 0x80|byte(n>>7), byte(n&0x7f))
	}
	forged := number(number(append(bytes.Clone(structure[:8]), 1), min(segments, 300)), 1)
	forged = number(append(forged, 0), segments)
	err = c.Script("begin")
	for n := range min(segments, 300) {
		forged = number(append(number(forged, int(first)+n), 1, 1, 1, 1), deleted)
		forged = append(forged, 0, 9)
		if n > 0 {
			err = errors.Join(err,
				c.Exec("insert or replace into word_data (id, block) select id + ?, block from word_data where id >> 37 = ?", int64(n)<<37, first),
				c.Exec("insert or replace into word_idx select segid + ?, term, pgno from word_idx where segid = ?", n, first))
		}
	}
	if err := errors.Join(err, c.Exec("update word_data set block=? where id=10", forged), c.Script("commit"), c.Close()); err != nil {
		t.Fatal(err)
	}
}

// peak returns the largest amount of memory that the process has used, in bytes.
func peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("the system does not report the memory of a process")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// TestEndlessRows searches in an index with a row, or an entry of an index, that is
// larger than the file, because its overflow pages are a cycle. SQLite reads both
// without the limit of the connection.
func TestEndlessRows(t *testing.T) {
	for _, c := range []struct {
		name, script string
		kind         byte // of the page
	}{
		{"words", "update word_data set block=block||zeroblob(3<<20) where id > 1<<37", 13},
		{"titles", "update heading_data set block=block||zeroblob(3<<20) where id > 1<<37", 13},
		{"words in the pages of another table", "update word_data set block=block||zeroblob(3<<20) where id > 1<<37; pragma writable_schema=on; " +
			"update sqlite_schema set rootpage=(select rootpage from sqlite_schema where name='word_data') where name='word_docsize'", 13},
		{"name of a file", "update doc set file=file||zeroblob(3<<20) where id=1", 10},
	} {
		path := write(t, t.TempDir(), "a.warc.gz", samples)
		open(t, path)
		forge(t, path, c.script)
		enlargeRow(t, textindex.PathOf(path), c.kind)
		before := peak(t)
		a, err := warc.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		x := textindex.New(textindex.PathOf(path), a, byName)
		rocket := textindex.Query{Words: "rocket"}
		_, first := x.Search(t.Context(), rocket)
		_, again := x.Search(t.Context(), rocket)
		_, s := open(t, path)
		r, err := x.Search(t.Context(), rocket)
		if used := peak(t) - before; first == nil || again == nil || s.Replaced == nil || used > 64<<20 {
			t.Errorf("%s: search %v, again %v, replaced %v, %d MiB of memory", c.name, first, again, s.Replaced, used>>20)
		}
		if err = errors.Join(err, x.Close(), a.Close()); err != nil || len(r.Hits) == 0 {
			t.Errorf("%s: %d results in the new index, %v", c.name, len(r.Hits), err)
		}
	}
}

// TestSmallPages searches in an index whose pages are smaller than those of SQLite.
func TestSmallPages(t *testing.T) {
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	open(t, path)
	file := textindex.PathOf(path)
	old, err := sqlite.Open("file:" + file)
	if err != nil {
		t.Fatal(err)
	}
	var id, version int
	err = errors.Join(old.Scan("pragma application_id", nil, &id), old.Scan("pragma user_version", nil, &version))
	script := fmt.Sprintf("pragma page_size=512; pragma application_id=%d; pragma user_version=%d", id, version)
	err = errors.Join(err, old.ForEachRow("select sql from sqlite_schema where name in ('doc', 'word', 'heading') order by rowid", nil, func(r *sqlite.Row) error {
		var statement string
		err := r.Scan(&statement)
		script += ";" + statement
		return err
	}))
	if err = errors.Join(err, old.Close(), os.Remove(file)); err != nil {
		t.Fatal(err)
	}
	forge(t, path, script)
	a, err := warc.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	x := textindex.New(file, a, byName)
	if _, err := x.Search(t.Context(), textindex.Query{Words: "rocket"}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(x.Close(), a.Close()); err != nil {
		t.Error(err)
	}
}

// enlargeRow changes the size of a row with more than 2 MiB to 128 MiB, on a page
// of the given kind. Its overflow pages become a cycle.
func enlargeRow(t *testing.T, file string, kind byte) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const pageSize, capacity = 4096, 4092 // bytes of a page, and of the data of an overflow page
	number := func(b []byte) int { return int(b[0]&127)<<21 | int(b[1]&127)<<14 | int(b[2]&127)<<7 | int(b[3]) }
	add := func(b []byte, n int) {
		n += number(b)
		b[0], b[1], b[2], b[3] = 128|byte(n>>21), 128|byte(n>>14), 128|byte(n>>7), byte(n&127)
	}
	found := 0
	for start := 0; start < len(content); start += pageSize {
		page := content[start : start+pageSize]
		if page[0] != kind {
			continue
		}
		for i := range int(binary.BigEndian.Uint16(page[3:])) {
			cell := page[binary.BigEndian.Uint16(page[8+2*i:]):]
			if cell[0] < 128 || cell[1] < 128 || cell[2] < 128 {
				continue // a small row
			}
			size := number(cell)
			more := (128<<20 - size) / capacity * capacity
			payload, header, largest := 4, 1, 1002
			if kind == 13 { // the row has a number, and its first column is NULL
				for payload++; cell[payload-1] >= 128; payload++ {
				}
				header, largest = 2, 4061
			}
			local := 489 + (size-489)%capacity // bytes before the first overflow page
			if local > largest {
				local = 489
			}
			add(cell, more)
			add(cell[payload+header:], 2*more)
			next := binary.BigEndian.Uint32(cell[payload+local:])
			binary.BigEndian.PutUint32(content[int(next-1)*pageSize:], next)
			found++
		}
	}
	if err := os.WriteFile(file, content, 0o644); err != nil || found != 1 {
		t.Fatal(found, err)
	}
}
