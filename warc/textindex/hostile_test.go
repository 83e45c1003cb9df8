package textindex_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/warc/textindex"
)

// TestHostileIndex opens files that Build did not write. None is used, and Build
// replaces each.
func TestHostileIndex(t *testing.T) {
	script := func(text string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			c, err := sqlite.Open("file:" + path)
			if err == nil {
				err = errors.Join(c.Script(text), c.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	overwrite := func(at int64, text string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err == nil {
				_, err = f.WriteAt([]byte(text), at)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, change := range map[string]func(t *testing.T, path string){
		"no database":      overwrite(0, "no database"),
		"foreign database": script("pragma application_id=1"),
		"newer version":    script("pragma user_version=3"),
		"earlier version":  script("drop table heading; pragma user_version=1"),
		"trigger":          script("create trigger x after insert on doc begin delete from doc; end"),
		"view":             script("create view x as select * from doc"),
		"further table":    script("create table x (y)"),
		"other tokenizer":  script("drop table word; create virtual table word using fts5(title, body, facet, content='', contentless_delete=1)"),
		"statistics":       script("analyze"),
		"UTF-16":           overwrite(59, "\x02"),
		"reserved bytes":   overwrite(20, "\x20"),
		"no words":         script("drop table word"),
		"shadow table":     script("drop table word_data; create table word_data (id integer primary key, block blob, x)"),
		"schema as a loop": overwrite(100, "\x05\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01"),
		"symbolic link": func(t *testing.T, path string) {
			if err := errors.Join(os.Rename(path, path+".target"), os.Symlink(path+".target", path)); err != nil {
				t.Skip(err)
			}
		},
		"named file is a folder": func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), "a.warc.gz", samples)
			x, _ := open(t, path)
			file := textindex.PathOf(path)
			change(t, file)
			if r, err := x.Search(t.Context(), textindex.Query{Words: "moon"}); err == nil {
				t.Errorf("the search uses the file: %+v", r)
			}
			if name == "named file is a folder" {
				return
			}
			y, s := open(t, path)
			if s.Replaced == nil || s.Added != 7 {
				t.Errorf("the new index: %+v", s)
			}
			if got := found(t, y, textindex.Query{Words: "returns"}); got != "2024 http://a.example/" {
				t.Errorf("search in the new index: %s", got)
			}
		})
	}
}

// TestJournal verifies that SQLite does not use a journal beside the index, which
// could name further files.
func TestJournal(t *testing.T) {
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	x, _ := open(t, path)
	file := textindex.PathOf(path)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The header of a hot journal with one page, which empties the database.
	journal := "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + "\xff\xff\xff\xff" + "\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x02\x00" + "\x00\x00\x10\x00"
	journal += strings.Repeat("\x00", 512-len(journal)) + "\x00\x00\x00\x01" + strings.Repeat("\x00", 4096) + "\x00\x00\x00\x00"
	for _, suffix := range []string{"-journal", "-wal"} {
		if err := os.WriteFile(file+suffix, []byte(journal), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := found(t, x, textindex.Query{Words: "returns"}); got != "2024 http://a.example/" {
		t.Errorf("search beside a journal: %s", got)
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(content) {
		t.Errorf("the index was changed: %v", err)
	}
	if _, err := os.Stat(file + "-journal"); err != nil {
		t.Error(err)
	}
}

// TestForgedRows verifies that rows without a capture in the archive are not
// reported, whatever they contain.
func TestForgedRows(t *testing.T) {
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	x, _ := open(t, path)
	c, err := sqlite.Open("file:" + textindex.PathOf(path))
	if err == nil {
		err = errors.Join(c.Script(`update doc set url='http://evil.example/' where id=1; update doc set url=x'ff00', timestamp=7 where id=2;
			update doc set offset=-1 where id=3; update doc set file='../../x' where id=4; update doc set text='forged moon' where id>4`), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"moon", "rocket", "the", "cafe", "about"} {
		r, err := x.Search(t.Context(), textindex.Query{Words: words})
		if err != nil {
			t.Errorf("%s: %v", words, err)
		}
		for _, h := range r.Hits {
			if strings.Contains(h.URL.String(), "evil") || h.Line.Offset < 0 {
				t.Errorf("%s: %+v", words, h)
			}
		}
	}
}

// TestDamagedIndex changes each page of an index. A search then fails or has
// fewer results, within its time limit.
func TestDamagedIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("opens an index hundreds of times")
	}
	path := write(t, t.TempDir(), "a.warc.gz", samples)
	x, _ := open(t, path)
	file := textindex.PathOf(path)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 100; at < len(content); at += 97 {
		changed := append([]byte(nil), content...)
		for i := range min(8, len(changed)-at) {
			changed[at+i] ^= byte(0x5a + at)
		}
		if err := errors.Join(os.Remove(file), os.WriteFile(file, changed, 0o644)); err != nil {
			t.Fatal(err)
		}
		if r, err := x.Search(t.Context(), textindex.Query{Words: "moon rocket"}); err == nil && len(r.Hits) > 3 {
			t.Errorf("offset %d: %+v", at, r)
		}
	}
}
