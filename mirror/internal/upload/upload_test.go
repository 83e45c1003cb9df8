package upload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/postgres"
	"github.com/anyurl/fetch/mirror/internal/upload"
)

// A spool is the directory of a worker with finished files, and the store of its
// crawl.
type spool struct {
	t        *testing.T
	dsn      string
	frontier frontier.Shared
	ledger   frontier.Ledger
	dir      *os.Root
	objects  string // directory of the store
	store    store.Store
	pages    int
}

func newSpool(t *testing.T, dsn, objects string) *spool {
	s := &spool{t: t, dsn: dsn, objects: objects}
	ctx := t.Context()
	var err error
	if s.frontier, err = postgres.New(dsn).Join(ctx, &frontier.Worker{Name: "w", Folder: "x", Stores: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.frontier.Close() })
	s.ledger = s.frontier.Ledger()
	if s.dir, err = os.OpenRoot(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.dir.Close() })
	if s.store, err = store.OpenFolder("file://" + filepath.ToSlash(objects)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.frontier.Begin(ctx, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// addFile writes a finished file with the record of one page, and records the
// file in the database.
func (s *spool) addFile(name, text string) {
	s.t.Helper()
	ctx := s.t.Context()
	s.pages++
	url := fmt.Sprintf("http://h/%s", name)
	item := frontier.Item{Key: frontier.KeyOf(url), URL: url, Host: "h"}
	_, err := s.frontier.Add(ctx, []frontier.Item{item})
	var leases []*frontier.Lease
	if err == nil {
		leases, err = s.frontier.Claim(ctx, "w", 1, 10, time.Minute)
	}
	if err != nil || len(leases) != 1 {
		s.t.Fatal(leases, err)
	}
	capture := &frontier.Capture{Key: item.Key, URL: url, Run: 1, Time: time.Unix(1e9, 0), File: name, Length: int64(len(text)), ID: "urn:x:" + name}
	results := []frontier.Result{{Item: item, State: frontier.Done, Capture: capture}}
	err = s.frontier.Complete(ctx, leases[0], results, map[string]int64{name: int64(len(text))})
	if err == nil {
		err = s.frontier.Release(ctx, leases[0], time.Time{})
	}
	if err == nil {
		err = s.dir.WriteFile(name, []byte(text), 0o666)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// run uploads files until all are stored or Run fails.
func (s *spool) run(o upload.Options, names ...string) error {
	o.Store, o.Ledger, o.Dir = s.store, s.ledger, s.dir
	u := upload.New(o)
	for _, name := range names {
		u.Add(name, 0)
	}
	ctx, cancel := context.WithCancelCause(s.t.Context())
	ended := make(chan error, 1)
	go func() {
		err := u.Run(ctx)
		cancel(err)
		ended <- err
	}()
	u.Wait(ctx) // returns early if Run fails
	cancel(nil)
	return <-ended
}

// states returns the states of all files in the database.
func (s *spool) states() string {
	var text []string
	for f, err := range s.ledger.All(s.t.Context()) {
		if err != nil {
			s.t.Fatal(err)
		}
		text = append(text, fmt.Sprintf("%s=%d", f.Name, f.State))
	}
	return fmt.Sprint(text)
}

// files returns the names of the files in the directory and in the store.
func (s *spool) files() string {
	local, _ := filepath.Glob(filepath.Join(s.dir.Name(), "*"))
	objects, _ := filepath.Glob(filepath.Join(s.objects, "*"))
	objects = slices.DeleteFunc(objects, func(name string) bool { return name == s.uploads() })
	for _, list := range [][]string{local, objects} {
		for i := range list {
			list[i] = filepath.Base(list[i])
		}
	}
	return fmt.Sprint(local, objects)
}

func TestUploader(t *testing.T) {
	db := peer.Postgres(t, false)
	for i, test := range []struct {
		name          string
		change        func(*spool) // before Run
		options       func(*spool) upload.Options
		want          error
		states, files string
	}{
		{name: "two files", states: "[a=2 b=2]", files: "[] [a b]"},
		{name: "kept files", states: "[a=2 b=2]", files: "[a b] [a b]",
			options: func(*spool) upload.Options { return upload.Options{Keep: true} }},
		{name: "crash before the upload", states: "[a=2 b=2]", files: "[] [a b]",
			change: func(s *spool) { s.finish("a", "aaaa") }},
		{name: "crash after the upload", states: "[a=2 b=2]", files: "[] [a b]",
			change: func(s *spool) { s.finish("a", "aaaa"); s.put("a", "aaaa") }},
		{name: "crash before the removal", states: "[a=2 b=2]", files: "[] [a b]", change: func(s *spool) {
			s.finish("a", "aaaa")
			s.put("a", "aaaa")
			if err := s.ledger.Store(s.t.Context(), "a"); err != nil {
				s.t.Fatal(err)
			}
		}},
		{name: "another object", want: store.ErrConflict, states: "[a=1 b=1]", files: "[a b] [a]",
			change: func(s *spool) { s.put("a", "other") }},
		{name: "shorter file", want: fetch.Local, states: "[a=0 b=0]", files: "[a b] []",
			change: func(s *spool) { s.write("a", "aaa") }},
		{name: "changed file", want: fetch.Local, states: "[a=1 b=0]", files: "[a b] []",
			change: func(s *spool) { s.finish("a", "aaaa"); s.write("a", "aaab") }},
		{name: "missing file", want: fetch.Local, states: "[a=0 b=0]", files: "[b] []",
			change: func(s *spool) { s.dir.Remove("a") }},
		{name: "abandoned worker", want: frontier.ErrAbandoned, states: "[]", files: "[a b] []",
			change: func(s *spool) { s.abandon() }},
		{name: "abandoned worker with an object", want: frontier.ErrAbandoned, states: "[a=2]", files: "[a b] [a]",
			change: func(s *spool) { s.finish("a", "aaaa"); s.put("a", "aaaa"); s.abandon("a") }},
		{name: "unavailable store", states: "[a=2 b=2]", files: "[] [a b]",
			change: func(s *spool) { os.WriteFile(s.uploads(), nil, 0o666) },
			options: func(s *spool) upload.Options {
				return upload.Options{Failed: func(string, error) { os.Remove(s.uploads()) }}
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects := filepath.Join(t.TempDir(), "store")
			if err := os.Mkdir(objects, 0o777); err != nil {
				t.Fatal(err)
			}
			s := newSpool(t, fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl%d", db.Addr, i), objects)
			s.addFile("a", "aaaa")
			s.addFile("b", "bbbbb")
			if test.change != nil {
				test.change(s)
			}
			var o upload.Options
			if test.options != nil {
				o = test.options(s)
			}
			if err := s.run(o, "a", "b"); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("error %v; want %v", err, test.want)
			}
			if states := s.states(); states != test.states {
				t.Errorf("states %s; want %s", states, test.states)
			}
			if files := s.files(); files != test.files {
				t.Errorf("files %s; want %s", files, test.files)
			}
		})
	}
}

// uploads returns the path of the directory for incomplete objects.
func (s *spool) uploads() string { return filepath.Join(s.objects, ".fetch-uploads") }

func (s *spool) finish(name, text string) {
	f := frontier.WARCFile{Name: name, Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text))}
	if err := s.ledger.Finish(s.t.Context(), &f); err != nil {
		s.t.Fatal(err)
	}
}

func (s *spool) put(name, text string) {
	r := bytes.NewReader([]byte(text))
	if err := s.store.Put(s.t.Context(), name, r, r.Size(), sha256.Sum256([]byte(text))); err != nil {
		s.t.Fatal(err)
	}
}

func (s *spool) write(name, text string) {
	if err := s.dir.WriteFile(name, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// abandon abandons the worker. The files with the given names are in the store.
func (s *spool) abandon(stored ...string) {
	ctx := s.t.Context()
	f, err := postgres.New(s.dsn).Join(ctx, &frontier.Worker{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	a, err := f.Abandon(ctx, "w", frontier.AbandonOptions{Stored: stored})
	want := frontier.Abandoned{Stored: int64(len(stored)), Files: 2, Records: 2, URLs: 2}
	want.Files -= want.Stored
	want.Records, want.URLs = want.Files, want.Files
	if a != want || err != nil {
		s.t.Errorf("Abandon: %+v, %v; want %+v", a, err, want)
	}
}

// TestHas compares objects with files of the database.
func TestHas(t *testing.T) {
	s, err := store.OpenFolder("file://" + filepath.ToSlash(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("text")
	sum := sha256.Sum256(text)
	if err := s.Put(t.Context(), "a", bytes.NewReader(text), 4, sum); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		f    frontier.WARCFile
		want bool
	}{
		{frontier.WARCFile{Name: "a", Size: 4, SHA256: sum}, true},
		{frontier.WARCFile{Name: "b", Size: 4, SHA256: sum}, false},
		{frontier.WARCFile{Name: "a", Size: 5, SHA256: sum}, false},
		{frontier.WARCFile{Name: "a", Size: 4}, false},
	} {
		if got, err := upload.Has(t.Context(), s, &test.f); got != test.want || err != nil {
			t.Errorf("Has(%+v): %t, %v; want %t", test.f, got, err, test.want)
		}
	}
}
