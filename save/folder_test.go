//go:build unix

package save_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

func openFolder(t *testing.T, dir string) *save.Folder {
	t.Helper()
	folder, err := save.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// TestFolder checks that files are saved in the same way with and without a
// Folder.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"in", "out"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "in/old"), old, 0o600)
	write(t, filepath.Join(dir, "in/.planted.part"), old, 0o666)
	folder := openFolder(t, filepath.Join(dir, "in"))
	for _, name := range []string{"in/new", "in/second", "in/old", "in/planted", "in/../in/round", "out/new", "out/../in/back"} {
		for _, o := range []save.Options{{}, {Resume: true, URL: url}, {Existing: save.Number}} {
			o.Folder = folder
			if err := get(dir+"/"+name, object, o); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	wantNames(t, filepath.Join(dir, "in"), "back back.1 new new.1 old old.1 planted planted.1 round round.1 second second.1")
	wantNames(t, filepath.Join(dir, "out"), "new new.1")
	plain := filepath.Join(t.TempDir(), "plain")
	finish(t, create(t, plain, save.Options{}), object)
	for _, name := range []string{"in/new", "in/second", "in/old", "out/new"} {
		like := map[bool]string{true: filepath.Join(dir, "in/old"), false: plain}[name == "in/old"]
		got, err := os.Stat(filepath.Join(dir, name))
		want, err2 := os.Stat(like)
		if err != nil || err2 != nil || got.Mode() != want.Mode() {
			t.Errorf("%s is %v, %v, want %v, %v", name, got, err, want, err2)
		}
		wantContent(t, filepath.Join(dir, name), object)
	}
}

// TestFolderMoved renames the folder of an open Folder. The part file and its
// final name stay in the same folder.
func TestFolderMoved(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	if err := os.Mkdir(before, 0o755); err != nil {
		t.Fatal(err)
	}
	f := create(t, filepath.Join(before, "out"), save.Options{Folder: openFolder(t, before)})
	if err := os.Rename(before, after); err != nil {
		t.Fatal(err)
	}
	finish(t, f, body)
	wantContent(t, filepath.Join(after, "out"), body)
	wantNames(t, after, "out")
}

func TestOpenFolder(t *testing.T) {
	dir, out := folder(t, old)
	for _, name := range []string{out, filepath.Join(dir, "none")} {
		_, err := save.OpenFolder(name)
		wantFault(t, err, fetch.Local)
	}
	t.Chdir(dir)
	f := create(t, "new", save.Options{Folder: openFolder(t, "")})
	finish(t, f, body)
	wantNames(t, dir, "new out")
}
