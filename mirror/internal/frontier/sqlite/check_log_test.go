package sqlite_test

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// TestSchemaInLog opens a database whose write-ahead log has a version of the
// schema that SQLite accepts, but cannot read to its end.
func TestSchemaInLog(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	file := pageGraph(t, path, 1)
	pages := []int{1}
	for n := int(info.Size()/pageSize) + 1; n <= len(file)/pageSize; n++ {
		pages = append(pages, n)
	}
	writeLog(t, path, file, uint32(len(file)/pageSize), pages...)
	checkRefused(t, "log", path)
}

// TestLogEnd opens a database whose write-ahead log has a version of the schema
// with an endless query, after a frame at which SQLite stops to read the log. Open
// must stop there too, because the rest of a sparse file has no end in practice.
func TestLogEnd(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{
		"a frame of a sparse file": strings.Repeat("\x00", 24),
		"another salt":             "\x00\x00\x00\x02\x00\x00\x00\x00other salt......",
	} {
		path := closedFrontier(t, 5)
		log := make([]byte, 32+24+pageSize)
		copy(log, "\x37\x7f\x06\x82\x00\x2d\xe2\x18")
		binary.BigEndian.PutUint32(log[8:], pageSize)
		copy(log[32:], first)
		frame := make([]byte, 24+pageSize)
		binary.BigEndian.PutUint32(frame, 1)
		writeInterior(frame[24:], 100, 2)
		if err := os.WriteFile(path+"-wal", append(log, frame...), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPageCount opens a database whose write-ahead log has a frame that makes it
// a database of 2^32 pages. The check of its pages must not allocate memory for
// each of them.
func TestPageCount(t *testing.T) {
	t.Parallel()
	path := closedFrontier(t, 5)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const pages = 1<<32 - 2
	binary.BigEndian.PutUint32(file[28:], pages)
	writeLog(t, path, file, pages, 1)
	f, err := sqlite.Open(t.Context(), path)
	if err == nil {
		f.Close()
	}
	if !errors.Is(err, frontier.ErrDamaged) || !strings.Contains(err.Error(), "it has 4294967294 pages") {
		t.Errorf("error %v, want the number of pages", err)
	}
}

// writeLog writes a write-ahead log with valid checksums, which contains the given
// pages of file. The last frame commits a database of size pages.
func writeLog(t *testing.T, path string, file []byte, size uint32, pages ...int) {
	t.Helper()
	log := []byte("\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00\x00\x00\x00\x00salt1234")
	sum := logSum([2]uint32{}, log)
	log = appendSum(log, sum)
	for i, n := range pages {
		frame := make([]byte, 8, 24)
		binary.BigEndian.PutUint32(frame, uint32(n))
		if i == len(pages)-1 {
			binary.BigEndian.PutUint32(frame[4:], size)
		}
		page := file[(n-1)*pageSize : n*pageSize]
		sum = logSum(logSum(sum, frame), page)
		frame = appendSum(append(frame, "salt1234"...), sum)
		log = append(append(log, frame...), page...)
	}
	if err := os.WriteFile(path+"-wal", log, 0o666); err != nil {
		t.Fatal(err)
	}
}

// logSum continues the checksum of a write-ahead log with data.
func logSum(sum [2]uint32, data []byte) [2]uint32 {
	for ; len(data) > 0; data = data[8:] {
		sum[0] += binary.LittleEndian.Uint32(data) + sum[1]
		sum[1] += binary.LittleEndian.Uint32(data[4:]) + sum[0]
	}
	return sum
}

func appendSum(b []byte, sum [2]uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, sum[0]), sum[1])
}
