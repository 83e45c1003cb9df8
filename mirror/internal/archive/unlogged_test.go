package archive

import (
	"errors"
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
	for n := at; n <= len(want); n += 7 {
		if n+7 > len(want) {
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
			closeArchive(t, openArchive(t, killed, Options{Tree: true, Now: time.Now}))
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
