package archive

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestRestoreLog opens an archive whose journal lacks bytes of the last commit.
// The journal must then have each line once, also if the process is killed
// before the database forgets the lines.
func TestRestoreLog(t *testing.T) {
	t.Parallel()
	dir, want := unsyncedArchive(t)
	at := strings.Index(want, "\n") + 1 // the first line is a line of Log
	step := 7
	if testing.Short() {
		step *= 7
	}
	for n := at; n <= len(want); n += step {
		if n+step > len(want) {
			n = len(want)
		}
		killed := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(killed, journalFile), []byte(want[:n]), 0o666); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			a := openArchive(t, killed, Options{Tree: true, Now: time.Now})
			if n := unloggedLines(t, a); n > 0 {
				t.Errorf("after Open: %d lines in the database, want 0", n)
			}
			closeArchive(t, a)
			checkJournal(t, killed, want)
			// The state before the database forgets the lines.
			for _, suffix := range databaseSuffixes {
				os.Remove(filepath.Join(killed, database+suffix))
				if text, err := os.ReadFile(filepath.Join(dir, database+suffix)); err == nil {
					if err := os.WriteFile(filepath.Join(killed, database+suffix), text, 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// TestRestoreDamagedLog checks that a line of the database is not written to the
// journal unless it matches its checksum.
func TestRestoreDamagedLog(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "\n", "text\n", `{"n":1}` + "\n", "{}\n" + string(journalLine(testLine{1, "x"}))} {
		dir := t.TempDir()
		a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
		l := claimItems(t, a, "http://a.example/one")
		r := []frontier.Result{{Item: l.Items[0], State: frontier.Dead, Line: []byte(line)}}
		if err := a.frontier.Complete(t.Context(), l, r, nil); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(t.Context(), dir, Options{Tree: true, Now: time.Now}); !errors.Is(err, frontier.ErrDamaged) {
			t.Errorf("line %q: error %v, want %v", line, err, frontier.ErrDamaged)
		}
	}
}

// TestConfirmLog checks that the database keeps the lines of commits only until
// the journal is synced, and keeps none after Seal.
func TestConfirmLog(t *testing.T) {
	t.Parallel()
	a := openArchive(t, t.TempDir(), Options{Tree: true, Now: time.Now})
	defer closeArchive(t, a)
	l := claimItems(t, a, "http://a.example/one", "http://a.example/two", "http://a.example/three", "http://a.example/four", "http://a.example/five")
	half := strings.Repeat("x", syncSize/2)
	for i, c := range []struct {
		text string
		want int
	}{{"short", 1}, {half, 2}, {half, 0}, {half + half, 0}, {"short", 1}} { // the fourth line is too long
		e := Entry{Result: frontier.Result{Item: l.Items[i], State: frontier.Dead}, Line: func() any { return testLine{i, c.text} }}
		if err := a.Commit(t.Context(), l, []Entry{e}, func() {}); err != nil {
			t.Fatal(err)
		}
		if got := unloggedLines(t, a); got != c.want {
			t.Errorf("after commit %d: %d lines in the database, want %d", i, got, c.want)
		}
	}
	if err := a.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := unloggedLines(t, a); got != 0 {
		t.Errorf("after Seal: %d lines in the database, want 0", got)
	}
}

func unloggedLines(t *testing.T, a *Archive) (n int) {
	t.Helper()
	for _, err := range a.frontier.Unlogged(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// unsyncedArchive returns the directory of an archive whose database contains
// the lines of its last commit, and its journal.
func unsyncedArchive(t *testing.T) (dir, journal string) {
	t.Helper()
	dir = t.TempDir()
	a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
	l := claimItems(t, a, "http://a.example/one", "http://a.example/two")
	a.Log(testLine{0, "not a visit"})
	var batch []Entry
	for i, it := range l.Items {
		e := newEntry(t, a, it)
		defer e.Body.Free()
		e.Line = func() any { return testLine{i + 1, it.URL} }
		batch = append(batch, e)
	}
	if err := a.Commit(t.Context(), l, batch, func() {}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil { // without Seal
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil || strings.Count(string(text), "\n") != 3 {
		t.Fatalf("journal %q, %v", text, err)
	}
	return dir, string(text)
}

// checkJournal compares the journal of an archive.
func checkJournal(t *testing.T, dir, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, journalFile)); string(got) != want || err != nil {
		t.Errorf("journal %q, %v; want %q", got, err, want)
	}
}

// TestRestoreDamagedEnd checks that the zeros that a power failure leaves at the
// unsynced end of the journal are removed, and that damage before a synced line
// remains for Heal.
func TestRestoreDamagedEnd(t *testing.T) {
	t.Parallel()
	synced := string(journalLine(map[string]any{"url": "http://a.example/synced"}))
	zeros := strings.Repeat("\x00", 20)
	for _, c := range []struct {
		name   string
		damage func(other, one, two string) string
		want   func(other, one, two string) string
	}{
		{"intact", func(other, one, two string) string { return other + one + two }, func(other, one, two string) string { return other + one + two }},
		{"middle of a line", func(other, one, two string) string { return synced + other + one[:9] + zeros + one[29:] + two },
			func(other, one, two string) string { return synced + other + two + one }},
		{"two lines in one", func(other, one, two string) string { return synced + other + one[:9] + zeros + two[9:] },
			func(other, one, two string) string { return synced + other + one + two }},
		{"line of no visit", func(other, one, two string) string { return synced + zeros + other[20:] + one + two },
			func(other, one, two string) string { return synced + one + two }},
		{"between the lines of a visit and of no visit", func(other, one, two string) string { return one + zeros + "\n" + other },
			func(other, one, two string) string { return one + other + two }},
		{"beginning of the journal", func(other, one, two string) string { return zeros + one[20:] + two + other },
			func(other, one, two string) string { return two + other + one }},
		{"beginning of the journal and a later line", func(other, one, two string) string { return zeros + one[20:] + other + zeros + two[20:] },
			func(other, one, two string) string { return other + one + two }},
		{"two places", func(other, one, two string) string { return synced + zeros + one[20:] + other + zeros + two[20:] },
			func(other, one, two string) string { return synced + other + one + two }},
		{"after a line that is too long", func(other, one, two string) string {
			return strings.Repeat("x", maxJournalLine+1) + "\n" + zeros + one[20:] + two
		}, func(other, one, two string) string {
			return strings.Repeat("x", maxJournalLine+1) + "\n" + zeros + one[20:] + two + one
		}},
		{"before a synced line", func(other, one, two string) string { return zeros + "\n" + synced + one },
			func(other, one, two string) string { return zeros + "\n" + synced + one + two }},
		{"lines of an earlier version", func(other, one, two string) string { return `{"url":"x"}` + "\n" + zeros + "\n" + two },
			func(other, one, two string) string { return `{"url":"x"}` + "\n" + two + one }},
	} {
		dir, journal := unsyncedArchive(t)
		lines := strings.SplitAfter(journal, "\n")
		text := c.damage(lines[0], lines[1], lines[2])
		if err := os.WriteFile(filepath.Join(dir, journalFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		closeArchive(t, openArchive(t, dir, Options{Tree: true, Now: time.Now}))
		want := c.want(lines[0], lines[1], lines[2])
		if got, err := os.ReadFile(filepath.Join(dir, journalFile)); string(got) != want || err != nil {
			t.Errorf("%s: journal\n%.2000q, %v; want\n%.2000q", c.name, got, err, want)
		}
	}
}

// manyLines is a database that returns one line many times.
type manyLines struct {
	frontier.Frontier
	line []byte
	n    int
}

func (f manyLines) Unlogged(context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for range f.n {
			if !yield(f.line, nil) {
				return
			}
		}
	}
}

// TestRestoreManyLines checks that a forged database cannot fill the memory with
// lines of the journal.
func TestRestoreManyLines(t *testing.T) {
	t.Parallel()
	a := openArchive(t, t.TempDir(), Options{Tree: true, Now: time.Now})
	defer a.Close()
	long := journalLine(testLine{1, strings.Repeat("x", maxJournalLine-1000)})
	f := manyLines{a.frontier, long, maxUnlogged/len(long) + 1}
	a.frontier = f
	if err := a.restoreLog(t.Context()); !errors.Is(err, frontier.ErrDamaged) {
		t.Errorf("%d lines of %d bytes: error %v, want %v", f.n, len(long), err, frontier.ErrDamaged)
	}
	a.frontier = f.Frontier

	// A damaged journal with many intact lines after the damage is left for Heal.
	end := journalEnd{damage: -1}
	end.add([]byte("damage"), true)
	line := bytes.TrimSuffix(long, []byte("\n"))
	for range maxUnlogged / len(long) {
		end.add(line, true)
	}
	if end.damage != 0 || len(end.kept) != maxUnlogged/len(long) {
		t.Errorf("after %d bytes: damage at %d, %d lines", end.size, end.damage, len(end.kept))
	}
	if end.add(line, true); end.damage != -1 || end.kept != nil {
		t.Errorf("after %d bytes: damage at %d, %d lines", end.size, end.damage, len(end.kept))
	}
}
