package tree

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// A nameTable stores claimed names in memory, as a frontier does in its
// database.
type nameTable struct {
	names   map[string]frontier.Key
	lookups int      // number of calls of lookup
	last    []string // arguments of the last call of lookup
	err     error    // error of lookup
}

func (t *nameTable) lookup(_ context.Context, folds []string) (map[string]frontier.Key, error) {
	t.lookups++
	t.last = folds
	found := map[string]frontier.Key{}
	for _, f := range folds {
		if k, ok := t.names[f]; ok {
			found[f] = k
		}
	}
	return found, t.err
}

// add stores the claims of as.
func (t *nameTable) add(test testing.TB, as []Assigned) {
	for _, a := range as {
		for _, c := range a.Claims {
			if k, ok := t.names[c.Fold]; ok && k != c.Key {
				test.Errorf("two keys claim %q", c.Fold)
			}
			t.names[c.Fold] = c.Key
		}
	}
}

func newWants(urls ...string) (ws []Want) {
	for _, u := range urls {
		ws = append(ws, Want{Key: frontier.KeyOf(u), URL: uri.MustParse(u)})
	}
	return ws
}

// assignAll assigns paths to ws in batches of n.
func assignAll(t testing.TB, tab *nameTable, n int, ws []Want) (paths []string) {
	t.Helper()
	namer := NewNamer(NewLayout, schemeNamed, tab.lookup)
	for len(ws) > 0 {
		batch := ws[:min(n, len(ws))]
		ws = ws[len(batch):]
		as, err := namer.Assign(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		tab.add(t, as)
		namer.Committed(as...)
		for _, a := range as {
			paths = append(paths, a.Path)
		}
	}
	return paths
}

// hazards are URLs that are difficult to map to paths, with their paths if they
// are assigned in this order.
var hazards = []struct{ url, path string }{
	{"http://h/", "index.html"},
	{"http://h/a", "a"},
	{"http://h/a/b", "a@dir/b"},
	{"http://h/c/d", "c/d"},
	{"http://h/c", "c@file"},
	{"http://h/%2e%2e/%2e%2e/etc/passwd", "%2E%2E/%2E%2E/etc/passwd"},
	{"http://h/x%00y", "x%00y"},
	{"http://h/x%0Ay", "x%0Ay"},
	{"http://h/%FF%FE", "%FF%FE"},
	{"http://h/" + strings.Repeat("n", 300), strings.Repeat("n", 120) + "~" + digest(strings.Repeat("n", 300))},
	{"http://h/Case.txt", "Case.txt"},
	{"http://h/case.txt", "case~" + keyOf("http://h/case.txt")[:8] + ".txt"},
	{"http://h/?x=1/../../etc", "index.html@q=x=1%2F..%2F..%2Fetc"},
	{"http://h/dir/", "dir/index.html"},
	{"http://h/dir/index.html", "dir/index~" + keyOf("http://h/dir/index.html")[:8] + ".html"},
	{"http://h/two/index.html", "two/index.html"},
	{"http://h/two/", "two/index@dir.html"},
	{"http://h/con", "co%6E"},
	{"http://h/dot.", "dot%2E"},
	{"http://h/%C3%BC", "ü"},
	{"http://h/u%CC%88", "u\u0308~" + keyOf("http://h/u%CC%88")[:8]},
	{"http://h/stra%C3%9Fe", "straße"},
	{"http://h/STRASSE", "STRASSE~" + keyOf("http://h/STRASSE")[:8]},
	{"http://h/A/x", "A@dir/x"},
	{"http://h/C/y", "C/y"},
	{"http://h/p*", "p%2A"},
	{"http://h/p%2A", "p%2A~" + keyOf("http://h/p%2A")[:8]},
	{"http://h/a@dir", "a@dir@file"},
}

func keyOf(url string) string {
	k := frontier.KeyOf(url)
	return fmt.Sprintf("%x", k[:])
}

// TestNamerHazards checks that the paths of hazards are valid, independent of
// the batch size, and stable.
func TestNamerHazards(t *testing.T) {
	var urls []string
	for _, h := range hazards {
		urls = append(urls, h.url)
	}
	for _, n := range []int{1, 3, len(urls)} {
		tab := &nameTable{names: map[string]frontier.Key{}}
		paths := assignAll(t, tab, n, newWants(urls...))
		for i, h := range hazards {
			checkPath(t, paths[i])
			if want := "http/h/" + h.path; paths[i] != want {
				t.Errorf("batches of %d: path of %s: got\n%q, want\n%q", n, h.url, paths[i], want)
			}
		}
		if again := assignAll(t, tab, n, newWants(urls...)); strings.Join(again, "\n") != strings.Join(paths, "\n") {
			t.Errorf("batches of %d: second assignment: got %q, want %q", n, again, paths)
		}
	}
}

// TestNamerLookups checks that a batch without collisions needs one lookup, and
// that a later batch does not look up known folders.
func TestNamerLookups(t *testing.T) {
	tab := &nameTable{names: map[string]frontier.Key{}}
	n := NewNamer(NewLayout, schemeNamed, tab.lookup)
	for i, w := range [][]Want{newWants("http://h/a/b/c", "http://h/a/b/d"), newWants("http://h/a/b/e")} {
		as, err := n.Assign(t.Context(), w)
		if err != nil || tab.lookups != i+1 {
			t.Fatalf("batch %d: error %v, %d lookups, want %d", i, err, tab.lookups, i+1)
		}
		if i == 1 && (len(as[0].Claims) != 1 || len(tab.last) != 1) {
			t.Errorf("second batch: looked up %q and claimed %v, want one name", tab.last, as[0].Claims)
		}
		tab.add(t, as)
		n.Committed(as...)
	}
}

// TestNamerLookupsWithCollisions checks that a batch with many collisions needs
// only a few lookups.
func TestNamerLookupsWithCollisions(t *testing.T) {
	var urls []string
	for i := range 128 {
		urls = append(urls, fmt.Sprintf("http://h/d/a%d", i), fmt.Sprintf("http://h/d/A%d", i))
	}
	tab := &nameTable{names: map[string]frontier.Key{}}
	assignAll(t, tab, len(urls), newWants(urls...))
	if tab.lookups > 3 {
		t.Errorf("got %d lookups, want at most 3", tab.lookups)
	}
}

// TestNamerLookupsOfGrowingPath checks that a URL needs few lookups, although each
// of its parents is also a page.
func TestNamerLookupsOfGrowingPath(t *testing.T) {
	tab := &nameTable{names: map[string]frontier.Key{}}
	var ws []Want
	url := "http://h"
	for i := range 60 {
		url += fmt.Sprint("/", i)
		ws = append(ws, newWants(url)...)
	}
	paths := assignAll(t, tab, 1, ws)
	if got, want := paths[3], "http/h/0@dir/1@dir/2@dir/3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if most := 3 * len(ws); tab.lookups > most {
		t.Errorf("got %d lookups, want at most %d", tab.lookups, most)
	}
}

// TestNamerAlternativesTaken checks that a URL gets a path even if other URLs
// have all of its alternative names.
func TestNamerAlternativesTaken(t *testing.T) {
	id := keyOf("http://h/A.txt")
	urls := []string{
		"http://h/a.txt", "http://h/a~" + id[:8] + ".txt", "http://h/a%25~" + id + ".txt", "http://h/a%~" + id + ".txt",
		"http://h/A.txt", "http://h/b", "http://h/b@dir", "http://h/b%25~dir", "http://h/b/c",
	}
	var ws []Want
	for _, u := range urls {
		if parsed, err := uri.ParseReference(u); err == nil {
			ws = append(ws, Want{Key: frontier.KeyOf(u), URL: parsed})
		}
	}
	paths := assignAll(t, &nameTable{names: map[string]frontier.Key{}}, 100, ws)
	for i, want := range map[int]string{3: "http/h/A%~" + id + ".txt", 7: "http/h/b%~dir/c"} {
		if paths[i] != want {
			t.Errorf("path %d: got %q, want %q", i, paths[i], want)
		}
	}
}

// TestNamerPending checks that a pending claim reserves its names until
// Dropped.
func TestNamerPending(t *testing.T) {
	tab := &nameTable{names: map[string]frontier.Key{}}
	n := NewNamer(NewLayout, schemeNamed, tab.lookup)
	one := func(url string) Assigned {
		t.Helper()
		as, err := n.Assign(t.Context(), newWants(url))
		if err != nil {
			t.Fatal(err)
		}
		return as[0]
	}
	a := one("http://h/a")
	if b := one("http://h/A"); b.Path == a.Path || strings.EqualFold(b.Path, a.Path) {
		t.Errorf("pending name was assigned to a second URL: %q", b.Path)
	}
	if again := one("http://h/a"); again.Path != a.Path || len(again.Claims) != len(a.Claims) {
		t.Errorf("second assignment: got %v, want %v", again, a)
	}
	n.Dropped(a)
	n.Dropped(a)
	if b := one("http://h/A"); b.Path != "http/h/A" {
		t.Errorf("dropped name is not free: got %q", b.Path)
	}
	tab.err = errors.New("lookup failed")
	if _, err := n.Assign(t.Context(), newWants("http://h/x/y")); err != tab.err {
		t.Errorf("got %v", err)
	}
	tab.err = nil
	if b := one("http://h/X"); b.Path != "http/h/X" {
		t.Errorf("claim remains after an error: got %q", b.Path)
	}
}

// FuzzNamer checks that no two URLs have equal folded paths and that no path is
// a folder of another path. The paths must be stable and independent of the
// batch size.
func FuzzNamer(f *testing.F) {
	var all strings.Builder
	for _, h := range hazards {
		all.WriteString(strings.TrimPrefix(h.url, "http://h/") + " ")
	}
	f.Add(all.String(), uint64(1))
	f.Add("a a/b A/B a@dir a@file/x a@dir/b A@FILE", uint64(7))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		var ws []Want
		seen := map[string]bool{}
		for word := range strings.FieldsSeq(text) {
			u, err := uri.ParseReference("http://h/" + word)
			if s := u.Unredacted(); err == nil && !seen[s] {
				seen[s] = true
				ws = append(ws, Want{Key: frontier.KeyOf(s), URL: u, Menu: seed>>len(ws)&1 == 1})
			}
		}
		// An attacker can choose URLs with equal first bytes of their keys.
		for i := range ws {
			if seed&2 != 0 {
				ws[i].Key = frontier.Key{}
				binary.BigEndian.PutUint64(ws[i].Key[8:], uint64(i+1))
			}
		}
		tab := &nameTable{names: map[string]frontier.Key{}}
		size := int(seed%5) + 1
		paths := assignAll(t, tab, size, ws)
		folded := map[string]bool{}
		for _, p := range paths {
			checkPath(t, p)
			if folded[fold(p)] {
				t.Errorf("two URLs have the path %q", p)
			}
			folded[fold(p)] = true
		}
		for _, p := range paths {
			for i, c := range fold(p) {
				if c == '/' && folded[fold(p)[:i]] {
					t.Errorf("a parent folder of %q is a file", p)
				}
			}
		}
		if again := assignAll(t, tab, size, ws); strings.Join(again, "\n") != strings.Join(paths, "\n") {
			t.Errorf("second assignment: got %q, want %q", again, paths)
		}
		one := assignAll(t, &nameTable{names: map[string]frontier.Key{}}, 1, ws)
		if strings.Join(one, "\n") != strings.Join(paths, "\n") {
			t.Errorf("batches of %d: got %q, want %q as in batches of 1", size, paths, one)
		}
	})
}
