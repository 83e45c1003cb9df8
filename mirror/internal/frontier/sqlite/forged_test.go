package sqlite_test

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	database "github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// TestForgedTrees opens databases whose check or queries would need memory for each
// of their bytes. Open must find them before SQLite reads the trees.
func TestForgedTrees(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(t *testing.T, path string, file []byte) []byte{
		"a deep tree": func(t *testing.T, path string, file []byte) []byte {
			return deepTree(file, rootPage(t, path, "url"))
		},
		"a large entry of an index": largeEntry,
	} {
		path := closedFrontier(t, 5)
		c, err := database.Open(path)
		if err == nil {
			err = errors.Join(c.Script("update url set key=zeroblob(3<<20) where id=1; pragma wal_checkpoint(truncate)"), c.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err == nil {
			file = forge(t, path, file)
			binary.BigEndian.PutUint32(file[28:], uint32(len(file)/pageSize)) // number of pages
			err = os.WriteFile(path, file, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := sqlite.Open(t.Context(), path)
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, frontier.ErrDamaged) || !errors.Is(err, database.ErrTree) {
			t.Errorf("%s: error %v, want %v", name, err, database.ErrTree)
		}
	}
}

// deepTree moves the page root to the end of a chain of interior pages, each of
// which has one child.
func deepTree(file []byte, root int) []byte {
	const depth = 30
	first := len(file)/pageSize + 1
	file = append(file, make([]byte, depth*pageSize)...)
	page := func(n int) []byte { return file[(n-1)*pageSize : n*pageSize] }
	copy(page(first+depth-1), page(root))
	for n, child := root, first; child < first+depth; n, child = child, child+1 {
		clear(page(n))
		page(n)[0] = 5
		binary.BigEndian.PutUint16(page(n)[5:], pageSize)
		binary.BigEndian.PutUint32(page(n)[8:], uint32(child))
	}
	return file
}

// largeEntry adds overflow pages to the only large entry of an index, whose size
// then exceeds the limit of a row.
func largeEntry(t *testing.T, _ string, file []byte) []byte {
	const capacity, more = 4092, 1000 // bytes of an overflow page, and number of new pages
	page := func(n uint32) []byte { return file[(n-1)*pageSize : n*pageSize] }
	add := func(b []byte, n int) {
		n += int(b[0]&127)<<21 | int(b[1]&127)<<14 | int(b[2]&127)<<7 | int(b[3])
		b[0], b[1], b[2], b[3] = 128|byte(n>>21), 128|byte(n>>14), 128|byte(n>>7), byte(n&127)
	}
	last := uint32(0)
	for n := uint32(1); int(n) <= len(file)/pageSize; n++ {
		for i := 0; page(n)[0] == 10 && i < int(binary.BigEndian.Uint16(page(n)[3:])); i++ {
			cell := page(n)[binary.BigEndian.Uint16(page(n)[8+2*i:]):]
			if cell[0] < 128 || cell[1] < 128 || cell[2] < 128 {
				continue // a small entry
			}
			add(cell, more*capacity)
			add(cell[5:], 2*more*capacity) // type of the first value
			const local = 489              // bytes of the entry before its first overflow page
			for last = binary.BigEndian.Uint32(cell[4+local:]); binary.BigEndian.Uint32(page(last)) != 0; {
				last = binary.BigEndian.Uint32(page(last))
			}
		}
	}
	if last == 0 {
		t.Fatal("there is no large entry")
	}
	first := uint32(len(file)/pageSize) + 1
	file = append(file, make([]byte, more*pageSize)...)
	binary.BigEndian.PutUint32(page(last), first)
	for n := first; n < first+more-1; n++ {
		binary.BigEndian.PutUint32(page(n), n+1)
	}
	return file
}
