package mirror

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A changingNote is a shared frontier whose note contains other seeds at each call.
type changingNote struct {
	frontier.Shared
	calls int
}

func (f *changingNote) ChangedNote(context.Context, string) (note []byte, now string, changed bool, err error) {
	f.calls++
	var n runNote
	for i := range 20_000 {
		n.Seeds = append(n.Seeds, fmt.Sprintf("http://h%d.example/%d/", i, f.calls))
	}
	note, err = json.Marshal(n)
	return note, fmt.Sprint(f.calls), true, err
}

// TestChangingSeeds checks that a program that changes the seeds in the database of
// a shared crawl again and again cannot fill the memory of a worker.
func TestChangingSeeds(t *testing.T) {
	client := fetch.New(fetch.Options{Policy: fetch.Public()})

	c := &crawl{o: Options{Client: client}, shared: &changingNote{}}
	c.scope = newScopeFilter(Scope{}, Limits{}, client.Scheme, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 50 {
		if _, err := c.reloadSeeds(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > 32<<20 {
		t.Errorf("the seeds take %d bytes", n)
	}
	runtime.KeepAlive(c)
}
