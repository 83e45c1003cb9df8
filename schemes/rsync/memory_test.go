package rsync

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

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

// flood starts a server that sends n entries.
func flood(t *testing.T, n int, entry func(i int) []byte) string {
	return hostile(t, accepted, func(w io.Writer) {
		b := bufio.NewWriterSize(progress{w.(net.Conn)}, 1<<16)
		b.Write(script(nil).data(entryOf(".", 0, dirMode)))
		for i := range n {
			b.Write(script(nil).data(entry(i)))
		}
		b.Write(script(nil).data(byte(0), 0))
		b.Flush()
	})
}

// A progress is a connection that waits for each write, however long all take.
type progress struct{ net.Conn }

func (p progress) Write(b []byte) (int, error) {
	p.SetDeadline(time.Now().Add(20 * time.Second))
	return p.Conn.Write(b)
}

// TestMemory reads large directories in constant memory. A driver keeps the
// lists of at most four directories.
func TestMemory(t *testing.T) {
	for _, test := range worstLists {
		t.Run(test.name, func(t *testing.T) {
			n := min(45_000, 12<<20/len(test.entry(0)))
			if testing.Short() {
				n = 1000
			}
			addr := flood(t, n, test.entry)
			c := schemetest.NewClient(t, Schemes())
			before := live()
			most := before
			resp, err := c.Get(t.Context(), "rsync://"+addr+"/m/d/")
			if err != nil {
				t.Fatal(err)
			}
			count := 0
			for _, err := range resp.Entries() {
				if err != nil {
					t.Fatal(err)
				}
				if count++; count%(n/5) == 0 {
					most = max(most, live())
				}
			}
			if used := most - before; count != n || used > 4<<20 {
				t.Errorf("%d entries, %d bytes", count, used)
			}
		})
	}
}

// TestMemoryOfSessions reads directories whose lists are just short enough to be
// kept by idle sessions.
func TestMemoryOfSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 160,000 entries")
	}
	addr := flood(t, maxIndex-1, worstLists[2].entry)
	c := schemetest.NewClient(t, Schemes())
	before := live()
	for i := range 2 * maxIdle {
		n := 0
		resp, err := c.Get(t.Context(), fmt.Sprintf("rsync://%s/m/%d/", addr, i))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range resp.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != maxIndex-1 {
			t.Errorf("%d entries", n)
		}
	}
	if used := live() - before; used < maxIdle<<20 || used > 3*maxIdle<<20 {
		t.Errorf("%d bytes", used)
	}
}
