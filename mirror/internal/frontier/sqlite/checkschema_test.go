package sqlite_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	database "github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// TestLogPageSize opens databases whose header has another page size than the
// write-ahead log. SQLite reads the database with the page size of the log, so that
// a child of the root page of the schema lies at another offset.
func TestLogPageSize(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]string{"512": "\x02\x00", "65536": "\x00\x01", "invalid": "\x00\x00"} {
		path := closedFrontier(t, 5)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := pageGraph(t, path, 1)
		binary.BigEndian.PutUint16(file[103:], 90) // not more children than a schema may have
		writeLog(t, path, file, uint32(len(file)/pageSize), 1)
		copy(file, before[:pageSize])
		copy(file[16:], size)
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		checkRefused(t, name, path)
	}
}

// TestPageSizeInLog opens a database whose write-ahead log has a version of page 1
// with another page size than both files. SQLite then reads both with this page
// size.
func TestPageSizeInLog(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const small, chain = 512, 17
	first := len(file)/small + 1 // number of the first small page after the database
	pages := make([]byte, chain*small)
	for n := range chain {
		writeInterior(pages[n*small:][:small], 0, first+n+1)
	}
	leaf := pages[(chain-1)*small:]
	clear(leaf)
	copy(leaf, "\x0d\x00\x00\x00\x01\x01\x90\x00\x01\x90")                              // one row at the offset 400
	copy(leaf[400:], "\x25\x01\x06\x15\x0f\x0f\x08\x3fviewvvcreate view v as select 1") // a row of the schema
	if err := os.WriteFile(path, append(file, pages...), 0o666); err != nil {
		t.Fatal(err)
	}
	copy(file[16:], "\x02\x00") // the page size
	clear(file[100:pageSize])
	writeInterior(file[:small], 100, first)
	size := uint32(first + chain)
	binary.BigEndian.PutUint32(file[28:], size)
	writeLog(t, path, file, size, 1)
	checkRefused(t, "the log", path)
}

// TestLargeSchema opens a database with large triggers. SQLite needs 100 bytes of
// memory for each of their bytes. In a forged database, a thousand triggers have
// the same overflow pages.
func TestLargeSchema(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	c, err := database.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		err = errors.Join(err, c.Script(fmt.Sprintf("create trigger x%d after insert on url begin %s end", i, strings.Repeat("select 1;", 6000))))
	}
	if err = errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	checkRefused(t, "triggers", path)
}

// TestConstraint opens a database with a foreign table whose constraint is
// violated. Open compares the schema before it checks the pages, because this
// check evaluates constraints, which can take hours.
func TestConstraint(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	c, err := database.Open(path)
	if err == nil {
		err = errors.Join(c.Script("create table x (y check (y = 2)); pragma ignore_check_constraints = 1; insert into x values (1)"), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := sqlite.Open(t.Context(), path)
	if err == nil {
		f.Close()
	}
	if err == nil || !strings.Contains(err.Error(), `the table "x", which fetch did not create`) {
		t.Errorf("error %v", err)
	}
}
