package frontiertest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// testRelocate moves records to another file and loses one of them.
func testRelocate(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	items := []frontier.Item{url("a", 1), url("a", 2), url("a", 3), url("a", 4)}
	tr.add(4, items...)
	l := tr.lease("w", "a", 9)
	states := []frontier.State{frontier.Done, frontier.Kept, frontier.Gone, frontier.Done}
	for i, it := range items {
		c := newCapture(it, 1)
		c.File, c.Offset, c.Length, c.ID, c.Digest = "old", int64(100*i), 100, fmt.Sprint("id", i), [32]byte{7}
		tr.must(tr.Complete(tr.ctx, l, []frontier.Result{{Item: it, State: states[i], Capture: c}}, map[string]int64{"old": 400}))
	}
	records := func(file string) (all []frontier.Stored) {
		for s, err := range tr.RecordsIn(tr.ctx, file) {
			tr.must(err)
			all = append(all, s)
		}
		return all
	}
	old := records("old")
	if len(old) != 4 || old[3].Offset != 300 {
		t.Fatalf("RecordsIn: %+v", old)
	}
	moves := []frontier.Move{{Row: old[0].Row, Lost: true}, {Row: old[1].Row, Offset: 5, Length: 6}, {Row: old[2].Row, Lost: true}, {Row: old[3].Row, Offset: 11, Length: 7}}
	tr.must(tr.Relocate(tr.ctx, "old", "new", 18, moves))
	if got := records("new"); len(got) != 2 || got[0].Offset != 5 || got[0].Length != 6 || got[0].ID != "id1" || got[1].File != "new" {
		t.Errorf("records of the new file: %+v", got)
	}
	n := 0
	for s, err := range tr.RecordsOf(tr.ctx, [32]byte{7}) {
		tr.must(err)
		if n++; s.File != "new" {
			t.Errorf("%+v", s)
		}
	}
	if count, err := tr.RecordCount(tr.ctx); n != 2 || count != 2 || err != nil {
		t.Errorf("%d records of the digest, %d in total: %v", n, count, err)
	}
	newest, err := tr.NewestCaptures(tr.ctx, []frontier.Key{items[0].Key})
	if c := newest[items[0].Key]; c.File != "" || c.Offset != 0 || c.ID != "id0" || err != nil {
		t.Errorf("lost capture: %+v, %v", c, err)
	}
	ends, err := tr.FileEnds(tr.ctx)
	if _, ok := ends["old"]; ok || ends["new"] != 18 || err != nil {
		t.Errorf("FileEnds: %v, %v", ends, err)
	}
	if names, err := tr.Retired(tr.ctx); len(names) != 1 || names[0] != "old" || err != nil {
		t.Errorf("Retired: %q, %v", names, err)
	}
	tr.must(tr.DropFile(tr.ctx, "old"))
	tr.must(tr.DropFile(tr.ctx, "new")) // has no effect
	if names, err := tr.Retired(tr.ctx); len(names) != 0 || len(records("new")) != 2 || err != nil {
		t.Errorf("after DropFile: %q, %v", names, err)
	}
	keys := []frontier.Key{items[0].Key, items[1].Key, items[2].Key, url("a", 9).Key}
	if n, err := tr.RequeueItems(tr.ctx, keys); n != 2 || err != nil {
		t.Errorf("RequeueItems: %d, %v", n, err)
	}
	if st := tr.stats(); st.States[frontier.Pending] != 2 || st.States[frontier.Done] != 1 || st.States[frontier.Gone] != 1 {
		t.Errorf("%+v", st)
	}
}

// testSeal checks that a change of the database removes the seal.
func testSeal(t *testing.T, e Engine) {
	tr := newTrial(t, e)
	tr.add(1, url("a", 1))
	manifest := func() ([]byte, error) { return []byte("digest"), nil }
	tr.must(tr.Seal(tr.ctx, manifest))
	for n, rows := range []bool{true, false} {
		seal, err := tr.ReadSeal(tr.ctx)
		if seal.Rows != rows || string(seal.Manifest) != "digest" || err != nil {
			t.Errorf("got %+v, %v; want rows %t", seal, err, rows)
		}
		tr.must(tr.Check(tr.ctx))
		if tr.must(tr.Seal(tr.ctx, manifest)); n == 0 {
			tr.must(tr.Unseal(tr.ctx))
			seal, err = tr.ReadSeal(tr.ctx)
			if seal.Rows || string(seal.Manifest) != "digest" || err != nil {
				t.Errorf("after Unseal: %+v, %v", seal, err)
			}
			tr.must(tr.Seal(tr.ctx, manifest))
		}
		tr.add(1, url("b", n))
	}
	failed := errors.New("no manifest")
	err := tr.Seal(tr.ctx, func() ([]byte, error) {
		if _, err := tr.ReadSeal(tr.ctx); err != nil { // the function may read the database
			t.Error(err)
		}
		return []byte("other"), failed
	})
	seal, readErr := tr.ReadSeal(tr.ctx)
	if !errors.Is(err, failed) || seal.Rows || string(seal.Manifest) != "digest" || readErr != nil {
		t.Errorf("after a failed manifest: got %v, %+v, %v", err, seal, readErr)
	}
}
