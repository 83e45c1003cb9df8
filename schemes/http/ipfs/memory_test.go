package ipfs

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/schemetest"
)

// live returns the bytes of the heap that are in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory reads a large directory and a large file with blocks of the maximum
// size.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	s := newFake(t)
	big := strings.Repeat("x", maxBlock)
	leaf := s.raw(big)
	var parts []cid
	for range 40 {
		parts = append(parts, leaf)
	}
	file := s.file(parts...)
	heavy := s.node(nil, kind(fileType), pb(2, big[:maxBlock-100]))
	var links [][]byte
	for i := range 200 { // directories whose entries are large blocks
		links = append(links, linkTo(fmt.Sprintf("%d%0*d", i, 4000, 0), heavy, 1))
	}
	dir := s.node(join(links...), kind(directoryType))
	c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}))
	for _, test := range []struct {
		name, url string
		want      int
	}{
		{"file", url(file, ""), 40 * maxBlock},
		{"directory", url(dir, "/"), 200},
	} {
		before := live()
		resp, err := c.Get(t.Context(), test.url)
		if err != nil {
			t.Fatal(err)
		}
		n, most := 0, int64(0)
		if test.name == "file" {
			for p := make([]byte, 64<<10); err == nil; {
				var k int
				k, err = resp.Body.Read(p)
				if n += k; n%(8*maxBlock) == 0 {
					most = max(most, live()-before)
				}
			}
			resp.Body.Close()
		} else {
			for _, err := range resp.Entries() {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n%40 == 0 {
					most = max(most, live()-before)
				}
			}
		}
		if n != test.want || most > 32<<20 {
			t.Errorf("%s: %d of %d, %d bytes in use", test.name, n, test.want, most)
		}
	}
}

// TestManyEntries lists a directory of many entries in shards.
func TestManyEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a large directory")
	}
	s := newFake(t)
	leaf := s.raw("abc")
	var inner [][]byte
	for i := range 256 {
		inner = append(inner, linkTo(fmt.Sprintf("%02Xname-%d", i, i), leaf, 3))
	}
	shard := s.shard(inner...)
	var links [][]byte
	for i := range 256 {
		links = append(links, linkTo(fmt.Sprintf("%02X", i), shard, 3))
	}
	root := s.shard(links...)
	c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}))
	if got := schemetest.Summary(c.Get(t.Context(), url(root, "/"))); got != "menu of 65536" {
		t.Error(got)
	}
}
