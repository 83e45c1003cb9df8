package sftp_test

import (
	"encoding/binary"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/schemes/sftp"
)

// TestLinkTargets lists directories of many symbolic links. It checks that the
// targets of a batch are not all in memory at once.
func TestLinkTargets(t *testing.T) {
	const links, limit = 500, 32 << 20
	for _, c := range []struct {
		name   string
		target int // length of each target
		want   string
	}{
		{"short", 10, strings.Repeat("t", 10)},
		{"longest", 4 << 10, strings.Repeat("t", 4<<10)},
		{"too long", 4<<10 + 1, ""},
		{"hostile", 250_000, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 2)
			s := newServer(t, scripted(linkReplies(links, c.target)))
			client := schemetest.NewClient(t, sftp.Schemes(s.options()), withDial(s), func(*fetch.Options) {})
			defer client.Close()
			resp, err := client.Get(t.Context(), "sftp://alice:s3cret@192.0.2.1/dir/")
			if err != nil {
				t.Fatal(err)
			}
			next, stop := iter.Pull2(resp.Entries())
			defer stop()
			for n := range links {
				e, err, ok := next()
				if !ok || err != nil || e.Name != fmt.Sprintf("l%03d", n) || e.Kind != fetch.Menu || e.Extra["link"] != c.want {
					t.Fatalf("entry %d: %v %q of kind %v with a link of %d bytes, %v", n, ok, e.Name, e.Kind, len(e.Extra["link"]), err)
				}
				if n%100 == 0 {
					checkHeap(t, limit)
				}
			}
		})
	}
}

// linkReplies returns the replies of a server whose directories contain n
// symbolic links to directories.
func linkReplies(n, target int) map[byte][]byte {
	u32 := binary.BigEndian.AppendUint32
	str := func(p []byte, s string) []byte { return append(u32(p, uint32(len(s))), s...) }
	reply := func(kind byte) []byte { return []byte{kind, 0, 0, 0, 0} }
	const hasMode, link, dir = 4, 0o120777, 0o040755
	listing := u32(reply(104), uint32(n))
	for i := range n {
		listing = u32(u32(str(str(listing, fmt.Sprintf("l%03d", i)), ""), hasMode), link)
	}
	attributes := u32(u32(reply(105), hasMode), dir)
	path := u32(str(str(u32(reply(104), 1), strings.Repeat("t", target)), ""), 0)
	return map[byte][]byte{1: {2, 0, 0, 0, 3}, 17: attributes, 11: str(reply(102), "h"), 12: listing, 19: path, 4: u32(reply(101), 0)}
}

func checkHeap(t *testing.T, limit uint64) {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > limit {
		t.Fatalf("%d MiB in use", m.HeapAlloc>>20)
	}
}
