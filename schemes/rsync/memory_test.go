package rsync

import (
	"bufio"
	"fmt"
	"io"
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

// worstLists are the entries of lists that need much memory for their bytes.
var worstLists = []struct {
	name  string
	entry func(i int) []byte
}{
	{"short names", func(i int) []byte { return entryOf(fmt.Sprintf("name-%d", i), 1, fileMode) }},
	{"names of 250 bytes", func(i int) []byte { return entryOf(fmt.Sprintf("%0250d", i), 1, fileMode) }},
	{"names of 52 bytes, which fill the index", func(i int) []byte { return entryOf(fmt.Sprintf("%052d", i), 1, fileMode) }},
	{"names of 4096 bytes", func(i int) []byte { return longEntry(fmt.Sprintf("%04096d", i), fileMode, "") }},
	{"five bytes for 255 of a name", func(i int) []byte {
		if i%1000 == 0 {
			return longEntry(fmt.Sprintf("%0255d", i), fileMode, "")
		}
		return appendInts([]byte{sameName | sameTime | sameMode, 254, 1, byte('a' + i%26)}, 1)
	}},
	{"prefix of a long name", func(i int) []byte {
		if i%2 == 0 {
			return longEntry(fmt.Sprintf("%04096d", i), fileMode, "")
		}
		return appendInts([]byte{sameName | sameTime | sameMode, 255, 0}, 1)
	}},
	{"directories", func(i int) []byte { return entryOf(fmt.Sprintf("%0250d", i), 1, dirMode) }},
	{"links to 4096 bytes", func(i int) []byte { return longEntry(fmt.Sprint(i), linkType, strings.Repeat("x", maxName)) }},
}

// longEntry returns an entry with a name of any length.
func longEntry(name string, mode int, link string) []byte {
	b := append(appendInts([]byte{longName}, int32(len(name))), name...)
	b = appendInts(b, 1, 1_000_000_000, int32(mode))
	if mode == linkType {
		b = append(appendInts(b, int32(len(link))), link...)
	}
	return b
}

// A flood is the stream of a server that sends n entries.
type flood struct {
	n     int
	entry func(i int) []byte
	i     int
	rest  []byte
}

func (f *flood) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.i == f.n {
			return 0, io.EOF
		}
		f.rest = script(nil).data(f.entry(f.i))
		f.i++
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// TestMemory reads long lists in constant memory.
func TestMemory(t *testing.T) {
	for _, test := range worstLists {
		t.Run(test.name, func(t *testing.T) {
			n := min(25_000, 6<<20/len(test.entry(0)))
			l := &list{s: &stream{r: bufio.NewReaderSize(&flood{n: n, entry: test.entry}, bufferSize), version: oldest}}
			files := &indexer{}
			before := live()
			most := before
			for i := range n {
				f, err := l.next()
				if err != nil {
					t.Fatal(err)
				}
				if files.add(f); i%(n/5) == 0 {
					most = max(most, live())
				}
			}
			if used := most - before; used > 3<<20 {
				t.Errorf("%d bytes", used)
			}
			runtime.KeepAlive(files)
		})
	}
}

// TestMemoryOfIndex sorts the longest list that is kept. A driver keeps at most
// maxIdle of them.
func TestMemoryOfIndex(t *testing.T) {
	before := live()
	files := &indexer{}
	for i := range maxIndex {
		files.add(item{name: fmt.Sprintf("%0*d", maxIndexNames/maxIndex, i), mode: fileMode})
	}
	x := files.index(newest)
	if used := live() - before; x == nil || len(x.files) != maxIndex || used > 3<<20 {
		t.Errorf("%d bytes", used)
	}
	if f, ok := x.find(fmt.Sprintf("%0*d", maxIndexNames/maxIndex, 12_345)); !ok || f.number != 12_345 {
		t.Errorf("%v, %v", f, ok)
	}
}

// TestLongList reads a long list from a server.
func TestLongList(t *testing.T) {
	const n = maxIndex + 1000
	addr := hostile(t, accepted, func(w io.Writer) {
		w.Write(script(nil).data(entryOf(".", 0, dirMode)))
		io.Copy(w, &flood{n: n, entry: worstLists[0].entry})
		w.Write(script(nil).data(byte(0), 0))
	})
	c := schemetest.NewClient(t, Schemes())
	if got := schemetest.Summary(c.Get(t.Context(), "rsync://"+addr+"/m/d/")); got != fmt.Sprintf("menu of %d", n) {
		t.Error(got)
	}
}
