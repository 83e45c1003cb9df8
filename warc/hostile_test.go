package warc

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// storedZip returns a zip file with uncompressed parts.
func storedZip(t *testing.T, parts ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: p[0], Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(p[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// repeatPart lists the only part of a zip file n times under different names of
// the same length.
func repeatPart(file []byte, n int) []byte {
	end := file[len(file)-22:]
	at := binary.LittleEndian.Uint32(end[16:])
	entry := file[at : len(file)-22]
	out := bytes.Clone(file[:at])
	for i := range n {
		e := bytes.Clone(entry)
		copy(e[46+len("archive/"):], fmt.Sprintf("%05d", i))
		out = append(out, e...)
	}
	end = bytes.Clone(end)
	binary.LittleEndian.PutUint16(end[8:], uint16(n))
	binary.LittleEndian.PutUint16(end[10:], uint16(n))
	binary.LittleEndian.PutUint32(end[12:], uint32(n*len(entry)))
	return append(out, end...)
}

// TestOverlappingParts verifies that a WACZ file with overlapping parts or
// duplicate names is rejected before its parts are read.
func TestOverlappingParts(t *testing.T) {
	record := string(members(res(1, "") + res(2, "")))
	large := strings.Repeat(record, 100)
	path := filepath.Join(t.TempDir(), "a.wacz")
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"overlapping bytes": {repeatPart(storedZip(t, [2]string{"archive/00000.warc.gz", large}), 1000),
			"parts of the WACZ file overlap"},
		"duplicate name": {storedZip(t, [2]string{"archive/a.warc.gz", record}, [2]string{"archive/a.warc.gz", large}),
			"duplicate part"},
	} {
		if err := os.WriteFile(path, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		if a, err := Open(path); !errors.Is(err, fetch.Mismatch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Open returned %v, %v", name, a, err)
		}
		found := 0
		for f, err := range Verify(path) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(f.Text, c.want) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s: Verify reported the problem %d times, want 1", name, found)
		}
	}
}

// TestIndexLimit verifies that all indexes of a WACZ file share one size limit.
func TestIndexLimit(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	line := []byte("com,example)/ 20260101000000 {\"url\":\"http://example.com/" + strings.Repeat("x", 1000) + "\"}\n")
	for i := range 4 {
		w, err := z.Create(fmt.Sprintf("indexes/%d.cdx", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat(line, 200)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if one := 200 * len(line); one > maxRatio*b.Len() || 4*one < maxRatio*b.Len() {
		t.Fatalf("unsuitable sample: one index has %d of %d bytes", one, b.Len())
	}
	name := filepath.Join(t.TempDir(), "a.wacz")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name); !errors.Is(err, fetch.Bomb) {
		t.Errorf("got error %v", err)
	}
}

// TestFoldedFields verifies that memory use is linear in the number of folded
// lines.
func TestFoldedFields(t *testing.T) {
	const n = 10_000
	text := "A: 1\n \n B:  2 \n\t3\n :\nC:\n d\n" + strings.Repeat(" x\n", n) + "E: 4"
	var fields fetch.Header
	if allocs := testing.AllocsPerRun(1, func() { fields = parseFields(text) }); allocs > 200 {
		t.Errorf("got %v allocations for %d lines", allocs, n)
	}
	want := fetch.Header{{Name: "A", Value: "1 B:  2 3 :"}, {Name: "C", Value: "d" + strings.Repeat(" x", n)},
		{Name: "E", Value: "4"}}
	if fmt.Sprint(fields) != fmt.Sprint(want) {
		t.Errorf("got fields %.200q", fmt.Sprint(fields))
	}
}

// TestReferenceLimit verifies that memory use for references is linear in the
// size of a record header.
func TestReferenceLimit(t *testing.T) {
	head := "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Date: 2026-11-21T08:30:00Z\r\nWARC-Record-ID: <urn:" +
		strings.Repeat("x", 300_000) + ">\r\n" +
		strings.Repeat("WARC-Concurrent-To: <urn:y>\r\n", 20_000) + "Content-Length: 0\r\n\r\n\r\n\r\n"
	var v verifier
	defer v.close()
	for _, err := range v.file("a.warc", strings.NewReader(head)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !v.refs.InMemory() || v.refs.Size() > 4*len(head) {
		t.Errorf("references use %d bytes for a header of %d bytes", v.refs.Size(), len(head))
	}
}

// TestStoredIndexes verifies that all indexes of a store share one size limit.
func TestStoredIndexes(t *testing.T) {
	const size = 1000
	fsys := fstest.MapFS{}
	var names []string
	for _, name := range []string{"a.warc", "b.warc"} {
		index := strings.Repeat("gopher://h.example/0/a 20260101000000 {\"url\":\"gopher://h.example/0/a\"}\n", size)[:size-1] + "\n"
		fsys[name], fsys[name+indexSuffix] = &fstest.MapFile{}, &fstest.MapFile{Data: []byte(index)}
		names = append(names, name, name+indexSuffix)
	}
	for limit, want := range map[int64]fetch.Fault{2 * size: 0, 2*size - 1: fetch.TooLarge, size: fetch.TooLarge, size - 1: fetch.TooLarge, 0: fetch.TooLarge} {
		a, err := open(func(o *opener) error { return o.openFiles(fsys, names, limit) })
		if err == nil {
			a.Close()
		}
		if (err != nil || want != 0) && fetch.FaultOf(err) != want {
			t.Errorf("limit %d: got %v", limit, err)
		}
	}
}

// TestRepeatedLines verifies that replay stops if an index has many lines for
// one record.
func TestRepeatedLines(t *testing.T) {
	dir := t.TempDir()
	record := rec(1, "WARC-Type: metadata\nWARC-Target-URI: gopher://h.example/0/a\nContent-Type: text/plain", "hello")
	index := ""
	for n := range maxOpened + 10 {
		index += fmt.Sprintf("gopher://h.example/0/a %014d {\"url\":\"gopher://h.example/0/a\",\"mime\":\"text/plain\",\"offset\":\"0\",\"filename\":\"a.warc\"}\n", 20260101000000+n)
	}
	for name, text := range map[string]string{"warc/a.warc": record, "index/all.cdxj": index} {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(dir, "warc/a.warc"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := replayClient(t, a).Get(t.Context(), "gopher://h.example/0/a"); !errors.Is(err, fetch.Mismatch) {
		t.Errorf("got error %v", err)
	}
}
