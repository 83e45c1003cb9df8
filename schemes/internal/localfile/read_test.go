package localfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

func TestDescription(t *testing.T) {
	c := newClient(t, Options{})
	dir := t.TempDir()
	day := time.Date(2026, 3, 1, 12, 0, 0, 7, time.UTC)
	for _, f := range []struct {
		name, content, media string
	}{
		{"a.html", "no markup", "text/html"},
		{"README", "words\n", "text/plain; charset=utf-8"},
		{"latin", "caf\xe9\n", "text/plain"},
		{"noise", "\x00\x01\x02", ""},
		{"empty", "", ""},
		{"page", strings.Repeat("x", headLen-1), "text/plain; charset=utf-8"}, // complete in the first read
		{"edge", strings.Repeat("x", headLen), "text/plain; charset=utf-8"},   // longer than the first read by one byte
		{"more", strings.Repeat("x", headLen+1), "text/plain; charset=utf-8"},
	} {
		path := write(t, filepath.Join(dir, f.name), []byte(f.content))
		if err := os.Chtimes(path, day, day); err != nil {
			t.Fatal(err)
		}
		resp, b, err := get(t, c, urlOf(path))
		if err != nil || string(b) != f.content {
			t.Errorf("%s: got %d bytes, %v, want %d", f.name, len(b), err, len(f.content))
			continue
		}
		if resp.Kind != fetch.Document || resp.Media != f.media || resp.Size != int64(len(f.content)) || !resp.Time.Equal(day) || resp.Validator == "" {
			t.Errorf("%s: got %v, %q, %d, %v, %q", f.name, resp.Kind, resp.Media, resp.Size, resp.Time, resp.Validator)
		}
		stat, b, err := get(t, c, urlOf(path), func(r *fetch.Request) { r.Op = fetch.Stat })
		if err != nil || len(b) > 0 || stat.Size != resp.Size || stat.Media != resp.Media || stat.Validator != resp.Validator {
			t.Errorf("%s: stat differs: %+v, %v", f.name, stat, err)
		}
	}
}

func TestNoSuchFile(t *testing.T) {
	c := newClient(t, Options{})
	path := write(t, filepath.Join(t.TempDir(), "f"), nil)
	for _, url := range []string{
		urlOf(path + "x"),
		urlOf(path) + "/",  // slash after a file name
		urlOf(path) + "/x", // path segment after a file name
		urlOf("/" + strings.Repeat("x", 300)),
		urlOf(strings.Repeat("/xxxxxxx", 1000)),
	} {
		if _, _, err := get(t, c, url); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%.60s: got %v, want NotFound", url, err)
		}
	}
}

func TestConditions(t *testing.T) {
	c := newClient(t, Options{})
	path := write(t, filepath.Join(t.TempDir(), "f"), bytes.Repeat([]byte("0123456789"), 1000))
	whole, _, err := get(t, c, urlOf(path))
	if err != nil {
		t.Fatal(err)
	}
	v, at := whole.Validator, whole.Time
	for _, r := range []struct {
		name      string
		req       fetch.Request
		offset, n int64
		unchanged bool
		fault     fetch.Fault
	}{
		{"middle of the file", fetch.Request{Range: fetch.Range{First: 10, End: 20}}, 10, 10, false, 0},
		{"first byte", fetch.Request{Range: fetch.Range{End: 1}}, 0, 1, false, 0},
		{"last byte", fetch.Request{Range: fetch.Range{First: -1}}, 9999, 1, false, 0},
		{"suffix longer than the file", fetch.Request{Range: fetch.Range{First: -20000}}, 0, 10000, false, 0},
		{"end beyond the end of the file", fetch.Request{Range: fetch.Range{First: 9990, End: 20000}}, 9990, 10, false, 0},
		{"start at the end of the file", fetch.Request{Range: fetch.Range{First: 10000}, IfSame: v}, 10000, 0, false, 0},
		{"start beyond the end of the file", fetch.Request{Range: fetch.Range{First: 10001}}, 0, 0, false, fetch.Denied},
		{"resume", fetch.Request{Range: fetch.Range{First: 5000}, IfSame: v}, 5000, 5000, false, 0},
		{"resume with a different validator", fetch.Request{Range: fetch.Range{First: 5000}, IfSame: v + "x"}, 0, 10000, false, 0},
		{"matching validator", fetch.Request{IfNot: v}, 0, 0, true, 0},
		{"different validator", fetch.Request{IfNot: v + "x"}, 0, 10000, false, 0},
		{"not modified after the time in Since", fetch.Request{Since: at}, 0, 0, true, 0},
		{"modified after the time in Since", fetch.Request{Since: at.Add(-1)}, 0, 10000, false, 0},
		{"modified after the time in Before", fetch.Request{Before: at.Add(-1)}, 0, 0, true, 0},
		{"modified at the time in Before", fetch.Request{Before: at}, 0, 10000, false, 0},
	} {
		resp, b, err := get(t, c, urlOf(path), func(req *fetch.Request) {
			r.req.URL = req.URL
			*req = r.req
		})
		if fetch.FaultOf(err) != r.fault {
			t.Errorf("%s: got %v, want %v", r.name, err, r.fault)
		}
		if err != nil {
			continue
		}
		if resp.Offset != r.offset || int64(len(b)) != r.n || resp.Unchanged != r.unchanged {
			t.Errorf("%s: got %d bytes from %d, unchanged %v", r.name, len(b), resp.Offset, resp.Unchanged)
		}
	}
}

// TestValidator checks that a change of content, time or file changes the
// validator.
func TestValidator(t *testing.T) {
	c := newClient(t, Options{})
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	day := time.Unix(1e9, 0)
	seen := map[string]string{}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"first", func() { write(t, path, []byte("aaa")) }},
		{"longer", func() { write(t, path, []byte("aaaa")) }},
		{"modified a nanosecond later", func() { day = day.Add(1) }},
		{"replaced", func() { os.Rename(write(t, path+".new", []byte("aaaa")), path) }},
	} {
		step.do()
		if err := os.Chtimes(path, day, day); err != nil {
			t.Fatal(err)
		}
		resp, _, err := get(t, c, urlOf(path))
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[resp.Validator]; ok {
			t.Errorf("%s: same validator as %s: %s", step.name, before, resp.Validator)
		}
		seen[resp.Validator] = step.name
	}
}

// TestChanged checks that a file that changes during the read is not reported
// as complete.
func TestChanged(t *testing.T) {
	c := newClient(t, Options{})
	path := filepath.Join(t.TempDir(), "f")
	for name, change := range map[string]func() error{
		"shorter":      func() error { return os.Truncate(path, 50_000) },
		"longer":       func() error { return os.Truncate(path, 200_000) },
		"new time":     func() error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)) },
		"emptied":      func() error { return os.Truncate(path, 0) },
		"replaced":     func() error { return os.Rename(write(t, path+".new", []byte("other")), path) },
		"removed":      func() error { return os.Remove(path) },
		"unchanged":    func() error { return nil },
		"changed mode": func() error { return os.Chmod(path, 0o600) },
	} {
		write(t, path, make([]byte, 100_000))
		resp, err := c.Get(t.Context(), urlOf(path))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		switch name {
		case "replaced", "removed", "unchanged", "changed mode":
			if err != nil || n != 99_990 { // the old file is still open
				t.Errorf("%s: got %d bytes, %v, want the original content", name, n, err)
			}
		default:
			if !errors.Is(err, fetch.Truncated) || n > 99_990 {
				t.Errorf("%s: got %d bytes, %v, want Truncated", name, n, err)
			}
		}
	}
}

// TestErrorWithLastByte checks that the error for a changed file is returned
// together with the last byte.
func TestErrorWithLastByte(t *testing.T) {
	d := &driver{scheme: Scheme{Locate: Locate}}
	path := write(t, filepath.Join(t.TempDir(), "f"), make([]byte, 100_000))
	u, _ := fetch.ParseURL(urlOf(path))
	resp, err := d.Do(t.Context(), &fetch.Request{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := resp.Body.Read(make([]byte, 100_000)); n != 100_000 || !errors.Is(err, fetch.Truncated) {
		t.Errorf("got %d bytes, %v, want the error with the last", n, err)
	}
}

func BenchmarkRead(b *testing.B) {
	const size = 256 << 20
	path := write(b, filepath.Join(b.TempDir(), "f"), make([]byte, size))
	buf := make([]byte, 256<<10)
	b.Run("fetch", func(b *testing.B) {
		c := newClient(b, Options{})
		b.SetBytes(size)
		for b.Loop() {
			resp, err := c.Get(b.Context(), urlOf(path))
			if err != nil {
				b.Fatal(err)
			}
			drain(b, resp.Body, buf)
		}
	})
	b.Run("os", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			drain(b, f, buf)
		}
	})
	b.Run("open", func(b *testing.B) {
		c := newClient(b, Options{})
		small := urlOf(write(b, filepath.Join(b.TempDir(), "s"), make([]byte, 1000)))
		b.ReportAllocs()
		for b.Loop() {
			resp, err := c.Get(b.Context(), small)
			if err != nil {
				b.Fatal(err)
			}
			drain(b, resp.Body, buf)
		}
	})
}

// drain reads r to EOF with the buffer buf, like io.Copy.
func drain(b *testing.B, r io.ReadCloser, buf []byte) {
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, buf); err != nil {
		b.Fatal(err)
	}
	r.Close()
}
