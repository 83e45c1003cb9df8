package tree

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// tables are the names of a frontier.
type tables struct {
	names map[string]frontier.Key
	asked int
	last  []string // that were asked for
	err   error
}

func (t *tables) named(_ context.Context, folds []string) (map[string]frontier.Key, error) {
	t.asked++
	t.last = folds
	found := map[string]frontier.Key{}
	for _, f := range folds {
		if k, ok := t.names[f]; ok {
			found[f] = k
		}
	}
	return found, t.err
}

func (t *tables) commit(test testing.TB, as []Assigned) {
	for _, a := range as {
		for _, c := range a.Claims {
			if k, ok := t.names[c.Fold]; ok && k != c.Key {
				test.Errorf("%q is claimed by two", c.Fold)
			}
			t.names[c.Fold] = c.Key
		}
	}
}

func wants(urls ...string) (ws []Want) {
	for _, u := range urls {
		ws = append(ws, Want{Key: frontier.KeyOf(u), URL: uri.MustParse(u)})
	}
	return ws
}

// assign gives paths in batches of n.
func assign(t testing.TB, tab *tables, n int, ws []Want) (paths []string) {
	t.Helper()
	namer := NewNamer(NewLayout, tab.named)
	for len(ws) > 0 {
		batch := ws[:min(n, len(ws))]
		ws = ws[len(batch):]
		as, err := namer.Assign(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		tab.commit(t, as)
		namer.Committed(as...)
		for _, a := range as {
			paths = append(paths, a.Path)
		}
	}
	return paths
}

// hazards are URLs whose files other tools lose, mix up or write elsewhere, and
// where they lie when they come in this order.
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

func TestHazards(t *testing.T) {
	var urls []string
	for _, h := range hazards {
		urls = append(urls, h.url)
	}
	for _, n := range []int{1, 3, len(urls)} {
		tab := &tables{names: map[string]frontier.Key{}}
		paths := assign(t, tab, n, wants(urls...))
		for i, h := range hazards {
			legal(t, paths[i])
			if want := "http/h/" + h.path; paths[i] != want {
				t.Errorf("batches of %d: %s lies at\n%q, want\n%q", n, h.url, paths[i], want)
			}
		}
		if again := assign(t, tab, n, wants(urls...)); strings.Join(again, "\n") != strings.Join(paths, "\n") {
			t.Errorf("batches of %d: the second time they lie at %q", n, again)
		}
	}
}

// TestQuestions: a batch without collisions asks once, and not again for its
// folders.
func TestQuestions(t *testing.T) {
	tab := &tables{names: map[string]frontier.Key{}}
	n := NewNamer(NewLayout, tab.named)
	for i, w := range [][]Want{wants("http://h/a/b/c", "http://h/a/b/d"), wants("http://h/a/b/e")} {
		as, err := n.Assign(t.Context(), w)
		if err != nil || tab.asked != i+1 {
			t.Fatalf("%v, asked %d times", err, tab.asked)
		}
		if i == 1 && (len(as[0].Claims) != 1 || len(tab.last) != 1) {
			t.Errorf("asked for %q, claims %v", tab.last, as[0].Claims)
		}
		tab.commit(t, as)
		n.Committed(as...)
	}
}

// TestFewQuestions: a batch in which every second name is taken asks a few
// times, not once for each.
func TestFewQuestions(t *testing.T) {
	var urls []string
	for i := range 128 {
		urls = append(urls, fmt.Sprintf("http://h/d/a%d", i), fmt.Sprintf("http://h/d/A%d", i))
	}
	tab := &tables{names: map[string]frontier.Key{}}
	assign(t, tab, len(urls), wants(urls...))
	if tab.asked > 3 {
		t.Errorf("asked %d times", tab.asked)
	}
}

// TestTaken: who serves every name that one URL could get does not stop it.
func TestTaken(t *testing.T) {
	id := keyOf("http://h/A.txt")
	urls := []string{"http://h/a.txt", "http://h/a~" + id[:8] + ".txt", "http://h/a%25~" + id + ".txt", "http://h/a%~" + id + ".txt",
		"http://h/A.txt", "http://h/b", "http://h/b@dir", "http://h/b%25~dir", "http://h/b/c"}
	var ws []Want
	for _, u := range urls {
		if parsed, err := uri.ParseReference(u); err == nil {
			ws = append(ws, Want{Key: frontier.KeyOf(u), URL: parsed})
		}
	}
	paths := assign(t, &tables{names: map[string]frontier.Key{}}, 100, ws)
	for i, want := range map[int]string{3: "http/h/A%~" + id + ".txt", 7: "http/h/b%~dir/c"} {
		if paths[i] != want {
			t.Errorf("got %q, want %q", paths, want)
		}
	}
}

func TestPending(t *testing.T) {
	tab := &tables{names: map[string]frontier.Key{}}
	n := NewNamer(NewLayout, tab.named)
	one := func(url string) Assigned {
		t.Helper()
		as, err := n.Assign(t.Context(), wants(url))
		if err != nil {
			t.Fatal(err)
		}
		return as[0]
	}
	a := one("http://h/a")
	if b := one("http://h/A"); b.Path == a.Path || strings.EqualFold(b.Path, a.Path) {
		t.Errorf("a name that is not committed was given again: %q", b.Path)
	}
	if again := one("http://h/a"); again.Path != a.Path || len(again.Claims) != len(a.Claims) {
		t.Errorf("got %v, want %v again", again, a)
	}
	n.Dropped(a)
	n.Dropped(a)
	if b := one("http://h/A"); b.Path != "http/h/A" {
		t.Errorf("a name that was dropped is not free: %q", b.Path)
	}
	tab.err = errors.New("no tables")
	if _, err := n.Assign(t.Context(), wants("http://h/x/y")); err != tab.err {
		t.Errorf("got %v", err)
	}
	tab.err = nil
	if b := one("http://h/X"); b.Path != "http/h/X" {
		t.Errorf("an error left a claim: %q", b.Path)
	}
}

// FuzzNamer: whatever the URLs, their order and their batches, no two have
// paths that some file system takes for one, or of which one is a folder of the
// other, and a second run has the same.
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
		// An attacker chooses URLs, and so keys, by their first bytes.
		for i := range ws {
			if seed&2 != 0 {
				ws[i].Key = frontier.Key{}
				binary.BigEndian.PutUint64(ws[i].Key[8:], uint64(i+1))
			}
		}
		tab := &tables{names: map[string]frontier.Key{}}
		size := int(seed%5) + 1
		paths := assign(t, tab, size, ws)
		folded := map[string]bool{}
		for _, p := range paths {
			legal(t, p)
			if folded[fold(p)] {
				t.Errorf("%q is given twice", p)
			}
			folded[fold(p)] = true
		}
		for _, p := range paths {
			for i, c := range fold(p) {
				if c == '/' && folded[fold(p)[:i]] {
					t.Errorf("%q lies in a file", p)
				}
			}
		}
		if again := assign(t, tab, size, ws); strings.Join(again, "\n") != strings.Join(paths, "\n") {
			t.Errorf("first %q, then %q", paths, again)
		}
		if one := assign(t, &tables{names: map[string]frontier.Key{}}, 1, ws); strings.Join(one, "\n") != strings.Join(paths, "\n") {
			t.Errorf("in batches of %d %q, one after the other %q", size, paths, one)
		}
	})
}
