package diskmodel

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/filecalls"
)

// text formats a state in one line.
func (s State) text() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if strings.HasSuffix(name, "/") {
			all = append(all, name)
		} else {
			all = append(all, fmt.Sprintf("%s=%q", name, s[name]))
		}
	}
	return strings.Join(all, " ")
}

// TestAfter checks the states after the calls of a file that is written,
// synced and renamed, with and without one of the syncs.
func TestAfter(t *testing.T) {
	const create, write, sync, rename = 0, 1, 2, 3
	calls := []filecalls.Call{
		{Kind: filecalls.Create, Path: "/d/part", Inode: 5},
		{Kind: filecalls.Write, Path: "/d/part", Inode: 5, Data: []byte("new")},
		{Kind: filecalls.Sync, Path: "/d/part", Inode: 5},
		{Kind: filecalls.Rename, Path: "/d/part", To: "/d/out", Inode: 5},
		{Kind: filecalls.Sync, Path: "/d", Inode: 2},
	}
	for _, c := range []struct {
		name  string
		calls []int // without the others
		rules Rules
		want  string
	}{
		{"all calls", []int{create, write, sync, rename, 4}, Rules{}, `out="new"`},
		{"no sync of the directory", []int{create, write, sync, rename}, Rules{}, `out="old" part="new"`},
		{"no sync of the directory, later", []int{create, write, sync, rename}, Rules{Names: All}, `out="new"`},
		{"no sync of the file", []int{create, write, rename, 4}, Rules{}, `out=""`},
		{"no sync of the file, later", []int{create, write, rename, 4}, Rules{Data: All}, `out="new"`},
		{"no sync", []int{create, write, rename}, Rules{}, `out="old"`},
		{"no sync, names first", []int{create, write, rename}, Rules{Names: All}, `out=""`},
		{"a journal for each directory", []int{create, write, sync, rename}, Rules{Directories: true}, `out="old"`},
		{"a journal for each directory, synced", []int{create, write, sync, rename, 4}, Rules{Directories: true}, `out="new"`},
	} {
		base := t.TempDir()
		if err := os.WriteFile(filepath.Join(base, "out"), []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		var selected []filecalls.Call
		for n, i := range c.calls {
			call := calls[i]
			call.Began = n
			selected = append(selected, call)
		}
		d, err := Load(base, "/d", selected)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.After(d.Len(), c.rules).text(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestTruncate checks that a write after a truncation needs the truncation.
func TestTruncate(t *testing.T) {
	base := t.TempDir()
	if err := os.WriteFile(filepath.Join(base, "a"), []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := Load(base, "/d", []filecalls.Call{
		{Kind: filecalls.Truncate, Path: "/d/a", Inode: 1, Offset: 2},
		{Kind: filecalls.Write, Path: "/d/a", Inode: 1, Offset: 2, Data: []byte("x"), Began: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	for rules, want := range map[Rules]string{
		{Data: All}:             `a="before"`,
		{Names: All}:            `a="be"`,
		{Names: All, Data: All}: `a="bex"`,
	} {
		if got := d.After(2, rules).text(); got != want {
			t.Errorf("%s: got %s, want %s", rules, got, want)
		}
	}
}

// TestSome checks that each state with a random part has an old or a new page in
// each place, and that the seed decides which.
func TestSome(t *testing.T) {
	base := t.TempDir()
	old := strings.Repeat("a", 3*PageSize)
	if err := os.WriteFile(filepath.Join(base, "a"), []byte(old), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := Load(base, "/d", []filecalls.Call{{Kind: filecalls.Write, Path: "/d/a", Inode: 1, Data: []byte(strings.ToUpper(old))}})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for seed := range uint64(200) {
		s := d.After(1, Rules{Data: Some, Seed: seed})
		if s.Digest() != d.After(1, Rules{Data: Some, Seed: seed}).Digest() {
			t.Fatal("the same seed has two states")
		}
		pages := ""
		for n := range 3 {
			pages += string(s["a"][n*PageSize])
			if strings.Count(string(s["a"][n*PageSize:(n+1)*PageSize]), pages[n:]) != PageSize {
				t.Fatal("a page has old and new bytes")
			}
		}
		found[pages] = true
	}
	if len(found) != 8 {
		t.Errorf("found %v", found)
	}
}
