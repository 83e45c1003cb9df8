package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anyurl/fetch/warc"
)

// TestReindexAfterKill checks that Verify reports no damage after a killed run,
// and that Reindex then writes a manifest of all files.
func TestReindexAfterKill(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	for _, sealed := range []bool{true, false} {
		a := openArchive(t, dir, Options{Tree: true, WARC: &warc.Options{MaxSize: 1}, Now: time.Now})
		a.Log(struct{ Sealed bool }{sealed})
		url := fmt.Sprint("http://a.example/", sealed)
		l := claimItems(t, a, url)
		e := newEntry(t, a, l.Items[0])
		if err := errors.Join(a.Commit(ctx, l, []Entry{e}, func() {}), a.frontier.Release(ctx, l, time.Time{})); err != nil {
			t.Fatal(err)
		}
		e.Body.Free()
		if sealed {
			closeArchive(t, a)
			checkVerify(t, dir)
		} else if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	notes := 0
	err := Verify(ctx, dir, func(f Finding) bool {
		if notes++; !f.Note || f.Path != database {
			t.Errorf("after the kill: %+v", f)
		}
		return true
	})
	if notes != 1 || !errors.Is(err, ErrIncomplete) {
		t.Errorf("after the kill: %d notes, %v", notes, err)
	}
	if err := Reindex(ctx, dir); err != nil {
		t.Fatal(err)
	}
	checkVerify(t, dir)
	if err := os.WriteFile(filepath.Join(dir, journalFile), []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	found := ""
	Verify(ctx, dir, func(f Finding) bool { found += f.Path + " " + f.Text; return true })
	if found != journalFile+" "+mismatch+"the manifest" {
		t.Errorf("found %q", found)
	}
}

// TestReindexKeepsDigests checks that Reindex does not accept a change of a file
// that it does not write.
func TestReindexKeepsDigests(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
	a.Log(struct{ A int }{1})
	claimItems(t, a, "http://a.example/")
	closeArchive(t, a)
	name := filepath.Join(dir, journalFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[2] ^= 1
	if err := errors.Join(os.WriteFile(name, text, 0o666), Reindex(ctx, dir)); err != nil {
		t.Fatal(err)
	}
	found := 0
	Verify(ctx, dir, func(f Finding) bool { found++; return true })
	if found != 1 {
		t.Errorf("%d findings, want 1", found)
	}
}
