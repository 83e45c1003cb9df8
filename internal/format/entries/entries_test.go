package entries

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

var sample = []fetch.Entry{
	{Name: "motd", URL: uri.MustParse("file:///etc/motd"), Kind: fetch.Document, Media: "text/plain", Size: 7, Time: time.Unix(1e9, 5).UTC()},
	{Name: "empty", URL: uri.MustParse("file:///etc/empty"), Kind: fetch.Document, Size: 0},
	{Name: "unknown", URL: uri.MustParse("imap://h/INBOX;UID=1"), Size: -1},
	{Name: "a\nb\x1b<&>", Kind: fetch.Info, Size: -1, Raw: "raw\tline", Extra: map[string]string{"type": "socket"}},
	{Kind: fetch.Menu, Size: -1},
}

// list returns a function for NewReader that returns the elements of e and then
// err.
func list(e []fetch.Entry, err error) func() (fetch.Entry, error) {
	return func() (fetch.Entry, error) {
		if len(e) == 0 {
			return fetch.Entry{}, err
		}
		defer func() { e = e[1:] }()
		return e[0], nil
	}
}

func collect(r io.Reader) (all []fetch.Entry, err error) {
	for e, err := range Menu(uri.URI{}, Media, r) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func TestRoundTrip(t *testing.T) {
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole":         func(r io.Reader) io.Reader { return r },
		"byte by byte":  iotest.OneByteReader,
		"half a buffer": iotest.HalfReader,
		"data with EOF": iotest.DataErrReader,
	} {
		got, err := collect(wrap(NewReader(list(sample, io.EOF))))
		if err != nil || !reflect.DeepEqual(got, sample) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	if err := iotest.TestReader(NewReader(list(sample, io.EOF)), text(t, sample)); err != nil {
		t.Error(err)
	}
}

func text(t *testing.T, all []fetch.Entry) (b []byte) {
	t.Helper()
	for _, e := range all {
		var err error
		if b, err = Append(b, e); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestSourceError checks that the entries before an error are returned, and
// that the error is returned by all later reads.
func TestSourceError(t *testing.T) {
	r := NewReader(list(sample, fetch.Timeout))
	got, err := io.ReadAll(r)
	if string(got) != string(text(t, sample)) || !errors.Is(err, fetch.Timeout) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if n, err := r.Read(make([]byte, 8)); n != 0 || !errors.Is(err, fetch.Timeout) {
		t.Errorf("second read: got %d, %v", n, err)
	}
}

// TestSlow checks that a Read returns before its buffer is full if entries
// arrive slowly.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := list(sample, io.EOF)
		r := NewReader(func() (fetch.Entry, error) {
			time.Sleep(time.Minute)
			return next()
		})
		for _, e := range sample {
			start, b := time.Now(), make([]byte, 4096)
			n, err := r.Read(b)
			if want := text(t, []fetch.Entry{e}); string(b[:n]) != string(want) || err != nil || time.Since(start) > time.Minute {
				t.Errorf("got %q, %v after %v, want %q", b[:n], err, time.Since(start), want)
			}
		}
	})
}

func TestBad(t *testing.T) {
	first := `{"name":"a","kind":"document"}` + "\n"
	for name, c := range map[string]struct {
		text  string
		count int
		fault fetch.Fault
	}{
		"empty":                      {"", 0, 0},
		"truncated line":             {first + `{"name":"b"`, 1, fetch.Truncated},
		"no newline at end":          {first + `{"name":"b"}`, 1, fetch.Truncated},
		"empty line":                 {first + "\n" + first, 1, fetch.Protocol},
		"not an object":              {first + "7\n", 1, fetch.Protocol},
		"two entries on a line":      {`{} {}` + "\n", 0, fetch.Protocol},
		"relative URL":               {`{"url":"a"}` + "\n", 0, fetch.Protocol},
		"URL with a space":           {`{"url":"x: y"}` + "\n", 0, fetch.Protocol},
		"invalid time":               {`{"time":"yesterday"}` + "\n", 0, fetch.Protocol},
		"size that is a string":      {`{"size":"7"}` + "\n", 0, fetch.Protocol},
		"unknown field":              {`{"colour":"red"}` + "\n", 1, 0},
		"unknown kind":               {`{"kind":"castle"}` + "\n", 1, 0},
		"line longer than the limit": {strings.Repeat("x", MaxLine+2), 0, fetch.Protocol},
		"deep nesting":               {strings.Repeat("[", 100000) + "\n", 0, fetch.Protocol},
		"escape character":           {"\x1b[2J\n", 0, fetch.Protocol},
	} {
		got, err := collect(strings.NewReader(c.text))
		if len(got) != c.count || fetch.FaultOf(err) != c.fault {
			t.Errorf("%s: got %d entries, %v, want %d, %v", name, len(got), err, c.count, c.fault)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: unescaped bytes in %q", name, err)
		}
	}
	if got, err := collect(strings.NewReader(`{"size":-5}` + "\n")); err != nil || got[0].Size != -1 {
		t.Errorf("negative size: got %v, %v, want an unknown size", got, err)
	}
}

func TestTooLarge(t *testing.T) {
	big := fetch.Entry{Name: strings.Repeat("x", MaxLine)}
	if b, err := Append(nil, big); !errors.Is(err, fetch.TooLarge) || len(b) > 0 {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
	got, err := io.ReadAll(NewReader(list([]fetch.Entry{sample[0], big}, io.EOF)))
	if string(got) != string(text(t, sample[:1])) || !errors.Is(err, fetch.TooLarge) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestMedia(t *testing.T) {
	for media, want := range map[string]bool{
		Media: true,
		`APPLICATION/X-NDJSON;Profile="fetch-entries"; charset=utf-8`: true,
		"application/x-ndjson": false,
		"text/html":            false,
		"":                     false,
	} {
		if IsMedia(media) != want {
			t.Errorf("IsMedia(%q) = %v", media, !want)
		}
	}
	for _, err := range Menu(uri.URI{}, "text/html", strings.NewReader("<p>")) {
		if !errors.Is(err, fetch.Unsupported) {
			t.Errorf("got %v, want Unsupported", err)
		}
	}
}

// TestStop checks that no further entries are read after the caller stops the
// iteration.
func TestStop(t *testing.T) {
	requested := 0
	endless := func() (fetch.Entry, error) { requested++; return sample[0], nil }
	for range Menu(uri.URI{}, Media, NewReader(endless)) {
		break
	}
	if requested == 0 || requested > 1000 {
		t.Errorf("read %d entries", requested)
	}
}

// FuzzEntries checks that a parsed listing can be encoded and parsed again with
// the same result.
func FuzzEntries(f *testing.F) {
	f.Add(`{"name":"a","url":"file:///a","kind":"menu","size":1,"time":"2026-01-01T00:00:00+02:00","extra":{"link":"b"}}` + "\n")
	f.Add(`{"size":-9,"raw":"\ud800","name":"<>"}` + "\r\n" + `{"url":"ftp://u:p@h/"}`)
	f.Add("null\n[]\n")
	f.Fuzz(func(t *testing.T, s string) {
		first, _ := collect(strings.NewReader(s))
		var b []byte
		for _, e := range first {
			var err error
			if b, err = Append(b, e); err != nil && !errors.Is(err, fetch.TooLarge) {
				t.Fatalf("%+v: encoding failed: %v", e, err)
			} else if err != nil {
				return
			}
		}
		second, err := collect(strings.NewReader(string(b)))
		if err != nil || len(second) != len(first) {
			t.Fatalf("%q: got %d entries, %v, want %d", b, len(second), err, len(first))
		}
		if again := text(t, second); string(again) != string(b) {
			t.Errorf("%q: encoded again as %q", b, again)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	var line []byte
	for b.Loop() {
		line, _ = Append(line[:0], sample[0])
	}
}
