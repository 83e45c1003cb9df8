package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
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

// TestManifest checks that the manifest of a run lists each file of the archive,
// as a manifest does that is computed from the files.
func TestManifest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	a := openArchive(t, dir, Options{Tree: true, WARC: &warc.Options{}, Now: time.Now})
	l := claimItems(t, a, "http://a.example/1", "http://a.example/2", "http://a.example/gone", "http://a.example/swept")
	for _, it := range l.Items {
		c := visit(t, a, l, it, it.URL)
		if !strings.HasSuffix(it.URL, "gone") && !strings.HasSuffix(it.URL, "swept") {
			continue
		}
		it.LastCapture = &c
		e := Entry{Result: frontier.Result{Item: it, State: frontier.Gone},
			Records: func(*frontier.Capture) ([]*warc.Record, error) { return nil, nil }}
		if err := a.Commit(t.Context(), l, []Entry{e}, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	swept := filepath.Join(dir, "attic/run-1/swept")
	err := errors.Join(os.MkdirAll(filepath.Dir(swept), 0o777), os.Rename(filepath.Join(dir, "tree/http/a.example/swept"), swept))
	const many = 1100 // files in a folder, which is read in parts of 1024 names
	for n := range many {
		err = errors.Join(err, os.WriteFile(filepath.Join(filepath.Dir(swept), fmt.Sprint(n)), nil, 0o666))
	}
	for _, name := range []string{"attic/run-1/new\nline", "attic/run-1/a b", `mail/back\slash`, "mail/new/1", reportText, "lock.txt", "tree.txt"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777), os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	a.Log(testLine{1, "text"})
	closeArchive(t, a)
	var b strings.Builder
	if err := Manifest(&b, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, manifest))
	if err != nil {
		t.Fatal(err)
	}
	got, want := slices.Sorted(strings.Lines(string(text))), slices.Sorted(strings.Lines(b.String()))
	if !slices.Equal(got, want) || len(want) != 15+many {
		t.Errorf("manifest of %d lines\n%.2000q, want %d of %d\n%.2000q", len(got), got, 15+many, len(want), want)
	}
}
