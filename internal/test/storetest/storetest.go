// Package storetest contains the tests that every store must pass.
package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
)

// Put creates an object that contains text.
func Put(s store.Store, name, text string) error {
	return s.Put(context.Background(), name, strings.NewReader(text), int64(len(text)), sha256.Sum256([]byte(text)))
}

// Get returns the bytes of an object.
func Get(s store.Store, name string) (string, error) {
	f, err := s.Open(context.Background(), name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	return string(data), err
}

// Names returns the names of the objects with a prefix.
func Names(t *testing.T, s store.Store, prefix string) []string {
	t.Helper()
	var all []string
	for o, err := range s.List(context.Background(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Name)
	}
	return all
}

// Run checks the rules that each Store must follow. The Store must be empty.
func Run(t *testing.T, s store.Store) {
	ctx := context.Background()
	t.Run("create once", func(t *testing.T) { testCreateOnce(t, s) })
	t.Run("race", func(t *testing.T) { testRace(t, s) })
	t.Run("wrong digest", func(t *testing.T) {
		err := s.Put(ctx, "wrong/sum", strings.NewReader("text"), 4, sha256.Sum256([]byte("other")))
		if !errors.Is(err, fetch.Mismatch) || errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
		err = s.Put(ctx, "wrong/size", strings.NewReader("text"), 5, sha256.Sum256([]byte("text")))
		if err == nil {
			t.Error("an object with a wrong size was created")
		}
		if got := Names(t, s, "wrong/"); got != nil {
			t.Errorf("objects remain: %q", got)
		}
	})
	t.Run("missing", func(t *testing.T) {
		_, err := s.Stat(ctx, "none")
		_, err2 := s.Open(ctx, "none/none")
		for _, err := range []error{err, err2} {
			if !errors.Is(err, fs.ErrNotExist) || fetch.FaultOf(err) != fetch.NotFound || fetch.Retryable(err) {
				t.Error(err)
			}
		}
	})
	t.Run("ranges", func(t *testing.T) { testRanges(t, s) })
	t.Run("names", func(t *testing.T) { testNames(t, s) })
	t.Run("check", func(t *testing.T) {
		before := Names(t, s, "")
		if err := s.Check(ctx); err != nil {
			t.Error(err)
		}
		if after := Names(t, s, ""); !slices.Equal(before, after) {
			t.Errorf("objects after Check: %q", after)
		}
	})
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		err := s.Put(ctx, "canceled", strings.NewReader("text"), 4, sha256.Sum256([]byte("text")))
		if fetch.FaultOf(err) != fetch.Canceled {
			t.Error(err)
		}
		if got := Names(t, s, "canceled"); got != nil {
			t.Errorf("objects remain: %q", got)
		}
	})
}

// testCreateOnce creates an object, creates it again with the same bytes, and
// tries to replace it.
func testCreateOnce(t *testing.T, s store.Store) {
	for _, text := range []string{"", "a text"} {
		name := fmt.Sprintf("once/%d", len(text))
		if err := Put(s, name, text); err != nil {
			t.Fatal(err)
		}
		if err := Put(s, name, text); err != nil {
			t.Errorf("the same bytes again: %v", err)
		}
		for _, other := range []string{"A text", "another text"} {
			if err := Put(s, name, other); !errors.Is(err, store.ErrConflict) || fetch.Retryable(err) {
				t.Errorf("other bytes: %v", err)
			}
		}
		if got, err := Get(s, name); got != text || err != nil {
			t.Errorf("the object contains %q, %v", got, err)
		}
		o, err := s.Stat(context.Background(), name)
		if err != nil || o.Name != name || o.Size != int64(len(text)) || o.SHA256 != sha256.Sum256([]byte(text)) || o.Modified.IsZero() {
			t.Errorf("%+v, %v", o, err)
		}
	}
}

// testRace creates one object with different bytes at the same time. Exactly one
// text must win.
func testRace(t *testing.T, s store.Store) {
	texts := []string{"first", "second", "third", "fourth"}
	errs := make([]error, 4*len(texts))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			errs[i] = Put(s, "race", texts[i%len(texts)])
			for errors.Is(errs[i], fs.ErrNotExist) { // the object of the winner is not visible yet
				errs[i] = Put(s, "race", texts[i%len(texts)])
			}
		})
	}
	all.Wait()
	won, err := Get(s, "race")
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		if text := texts[i%len(texts)]; text == won && err != nil || text != won && !errors.Is(err, store.ErrConflict) {
			t.Errorf("%q won, but the result of %q is %v", won, text, err)
		}
	}
}

// testRanges reads parts of an object.
func testRanges(t *testing.T, s store.Store) {
	text := strings.Repeat("0123456789", 100)
	if err := Put(s, "ranges", text); err != nil {
		t.Fatal(err)
	}
	f, err := s.Open(context.Background(), "ranges")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		off  int64
		size int
		want string
		err  error
	}{
		{0, 3, "012", nil},
		{995, 5, "56789", nil},
		{995, 10, "56789", io.EOF},
		{1000, 1, "", io.EOF},
		{5000, 1, "", io.EOF},
		{10, 0, "", nil},
	} {
		p := make([]byte, c.size)
		n, err := f.ReadAt(p, c.off)
		if string(p[:n]) != c.want || err != c.err && !(n == c.size && err == io.EOF) {
			t.Errorf("%d bytes at %d: %q, %v", c.size, c.off, p[:n], err)
		}
	}
	if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("no error for a negative position")
	}
}

// testNames creates and lists objects with unusual names.
func testNames(t *testing.T, s store.Store) {
	want := []string{"n/a.warc.gz", "n/a/b", "n/a/c d", "n/a0", "n/ä+&?=%41", "n/日本"}
	for _, name := range want {
		if err := Put(s, name, name); err != nil {
			t.Error(err)
		}
	}
	if got := Names(t, s, "n/"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := Names(t, s, "n/a/"); !slices.Equal(got, want[1:3]) {
		t.Errorf("got %q", got)
	}
	if got := Names(t, s, "n/a/b/c"); got != nil {
		t.Errorf("got %q", got)
	}
	for o, err := range s.List(context.Background(), "n/") {
		if err != nil || o.Name != want[0] || o.Size != int64(len(o.Name)) {
			t.Errorf("%+v, %v", o, err)
		}
		break // the iteration can end early
	}
	for _, name := range want {
		if got, err := Get(s, name); got != name || err != nil {
			t.Errorf("%q contains %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", ".", "..", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\x00", "a\n", "a\\b", "a\xff", strings.Repeat("a", 801)} {
		err := Put(s, name, "")
		_, err2 := s.Open(context.Background(), name)
		_, err3 := s.Stat(context.Background(), name)
		for _, err := range []error{err, err2, err3} {
			if fetch.FaultOf(err) != fetch.Usage {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}
