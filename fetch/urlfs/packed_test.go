package urlfs

import (
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestPacked checks that each entry is the same after it was packed.
func TestPacked(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	zone, err := uri.ParseZone("http://[fe80::1%25eth0]/x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		entry fetch.Entry
		whole bool
	}{
		{name: "file", entry: fetch.Entry{Name: "a.txt", URL: uri.MustParse("ftp://h/d/a.txt"), Kind: fetch.Document, Media: "text/plain", Size: 10, Time: day, Raw: "-rw a.txt"}},
		{name: "unknown size and time", entry: fetch.Entry{Name: "b/", URL: uri.MustParse("ftp://h/d/b/"), Kind: fetch.Menu, Size: -1}},
		{name: "size of 2^63-1", entry: fetch.Entry{Name: "c", URL: uri.MustParse("ftp://h/d/c"), Size: 1<<63 - 1}},
		{name: "extra properties", entry: fetch.Entry{Name: "d", URL: uri.MustParse("ftp://h/d/d"), Extra: map[string]string{"mode": "0644", "owner": "", "": "x"}}},
		{name: "another server", entry: fetch.Entry{Name: "e", URL: uri.MustParse("gopher://other/0e")}},
		{name: "URL shorter than the base", entry: fetch.Entry{Name: "..", URL: uri.MustParse("ftp://h/")}},
		{name: "base as the URL", entry: fetch.Entry{Name: ".", URL: uri.MustParse("ftp://h/d/")}},
		{name: "no name", entry: fetch.Entry{URL: uri.MustParse("ftp://h/d/f")}},
		{name: "bytes that are not UTF-8", entry: fetch.Entry{Name: "\xff\x00", URL: uri.MustParse("ftp://h/d/%FF%00"), Raw: "\xff\x00"}},
		{name: "zone of two hours", entry: fetch.Entry{Name: "g", URL: uri.MustParse("ftp://h/d/g"), Time: day.In(time.FixedZone("", 7200))}},
		{name: "zone that has no encoding", entry: fetch.Entry{Name: "h", URL: uri.MustParse("ftp://h/d/h"), Time: day.In(time.FixedZone("", 1<<30))}},
		{name: "zone of an address", entry: fetch.Entry{Name: "i", URL: zone}, whole: true},
		{name: "no URL", entry: fetch.Entry{Name: "j"}, whole: true},
		{name: "long name", entry: fetch.Entry{Name: string(make([]byte, 3*maxChunk)), URL: uri.MustParse("ftp://h/d/l")}},
	} {
		l := listing{base: "ftp://h/d/"}
		l.pack(fetch.Entry{Name: "first", URL: uri.MustParse("ftp://h/d/first"), Media: "x/y", Raw: "r", Time: day, Extra: map[string]string{"a": "b"}})
		packed, whole := l.pack(c.entry)
		got := l.unpack(packed)
		if !got.Time.Equal(c.entry.Time) {
			t.Errorf("%s: got time %v, want %v", c.name, got.Time, c.entry.Time)
		}
		_, offset := c.entry.Time.Zone()
		if _, has := got.Time.Zone(); has != offset && offset < 1<<20 {
			t.Errorf("%s: got time %v, want %v", c.name, got.Time, c.entry.Time)
		}
		got.Time = c.entry.Time
		if !reflect.DeepEqual(got, c.entry) || whole != c.whole {
			t.Errorf("%s: got %+v (whole: %t), want %+v", c.name, got, whole, c.entry)
		}
	}
}

// TestPackedMemory checks that the memory of an entry is what FS.held counts.
func TestPackedMemory(t *testing.T) {
	const n = 50_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l := listing{base: "ftp://h/d/"}
	var all []node
	counted := 0
	for i := range n {
		name := "file-" + strconv.Itoa(i) + ".txt"
		packed, _ := l.pack(fetch.Entry{Name: name, URL: uri.MustParse("ftp://h/d/" + name), Raw: "-rw-r--r-- 1 0 0 10 Jan  1 2026 " + name, Size: 10, Time: time.Unix(1e9, 0)})
		all = append(all, node{in: &l, packed: packed, name: nameOf(packed)})
		counted += nodeMemory + len(packed)
	}
	entries := entriesOf(all)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int(after.HeapAlloc) - int(before.HeapAlloc); used > counted*5/4 {
		t.Errorf("%d entries use %d bytes, counted are %d", len(entries), used, counted)
	}
	runtime.KeepAlive(all)
}

// BenchmarkPack packs and unpacks an entry.
func BenchmarkPack(b *testing.B) {
	e := fetch.Entry{Name: "a.txt", URL: uri.MustParse("ftp://h/d/a.txt"), Raw: "-rw-r--r-- 1 0 0 10 Jan  1 2026 a.txt", Size: 10, Time: time.Unix(1e9, 0)}
	b.ReportAllocs()
	var l listing
	l.base = "ftp://h/d/"
	for b.Loop() {
		packed, _ := l.pack(e)
		l.unpack(packed)
	}
}
