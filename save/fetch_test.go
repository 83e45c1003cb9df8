package save_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/save"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// An answer is one response of a server.
type answer struct {
	status   int
	header   string // ETag or Content-Range, as "Name: value"; lines are separated by "\n"
	body     string
	announce int // Content-Length; 0 means the length of body
}

// serve returns a client of a server that returns answers in order. Ranges are
// the Range fields that the server received.
func serve(t *testing.T, answers []answer) (client *fetch.Client, url string, ranges *[]string) {
	t.Helper()
	ranges = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*ranges = append(*ranges, r.Header.Get("Range"))
		if len(*ranges) > len(answers) {
			http.Error(w, "too many requests", http.StatusTeapot)
			return
		}
		a := answers[len(*ranges)-1]
		for line := range strings.Lines(a.header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			w.Header().Set(name, value)
		}
		length := a.announce
		if length == 0 {
			length = len(a.body)
		}
		w.Header().Set("Content-Length", strconv.Itoa(length))
		w.WriteHeader(a.status)
		fmt.Fprint(w, a.body)
	}))
	t.Cleanup(server.Close)
	client = fetch.New(fetch.Options{Policy: fetch.Typed()}, web.Schemes(web.Options{})...)
	t.Cleanup(func() { client.Close() })
	return client, server.URL, ranges
}

// TestFetch checks the requests of Fetch and the resulting file.
func TestFetch(t *testing.T) {
	const v1, v2 = `ETag: "v1"`, `ETag: "v2"`
	resume := save.Options{Resume: true, Existing: save.Continue}
	for _, c := range []struct {
		name    string
		before  string // content of the file before
		o       save.Options
		op      fetch.Op
		rng     fetch.Range
		since   time.Time
		answers []answer
		ranges  []string
		fault   fetch.Fault
		want    string // content of the file afterwards
		result  save.Result
	}{
		{name: "complete", answers: []answer{{200, v1, "0123456789", 0}}, ranges: []string{""},
			want: "0123456789", result: save.Result{Bytes: 10, Validator: `"v1"`}},
		{name: "replaces a file", before: "old", answers: []answer{{200, "", "new", 0}}, ranges: []string{""},
			want: "new", result: save.Result{Bytes: 3}},
		{name: "breaks off, version known", answers: []answer{{200, v1, "0123", 10}, {206, v1 + "\nContent-Range: bytes 4-9/10", "456789", 0}},
			ranges: []string{"", "bytes=4-"}, want: "0123456789", result: save.Result{Bytes: 10, Validator: `"v1"`}},
		{name: "breaks off, version changed meanwhile", answers: []answer{{200, v1, "0123", 10}, {200, v2, "abcdefghij", 0}},
			ranges: []string{"", "bytes=4-"}, want: "abcdefghij", result: save.Result{Bytes: 10, Validator: `"v2"`}},
		{name: "breaks off, server confuses versions", answers: []answer{
			{200, v1, "0123", 10}, {206, v1 + "\nContent-Range: bytes 4-10/11", "efghijk", 0}, {200, v2, "abcdefghijk", 0}},
			ranges: []string{"", "bytes=4-", ""}, want: "abcdefghijk", result: save.Result{Bytes: 11, Validator: `"v2"`}},
		{name: "breaks off, version unknown: no part of another is joined to it",
			answers: []answer{{200, "", "0123", 10}, {200, "", "abcdefghij", 0}},
			ranges:  []string{"", ""}, want: "abcdefghij", result: save.Result{Bytes: 10}},
		{name: "range breaks off: the same range again", rng: fetch.Range{First: 2, End: 6},
			answers: []answer{{206, "Content-Range: bytes 2-5/10", "23", 4}, {206, "Content-Range: bytes 2-5/10", "2345", 0}},
			ranges:  []string{"bytes=2-5", "bytes=2-5"}, want: "2345", result: save.Result{Bytes: 4}},
		{name: "range without an end", rng: fetch.Range{First: 4},
			answers: []answer{{206, v1 + "\nContent-Range: bytes 4-9/10", "456789", 0}},
			ranges:  []string{"bytes=4-"}, want: "456789", result: save.Result{Bytes: 6}},
		{name: "range without an end breaks off: the same range again", before: "old", rng: fetch.Range{First: 4},
			answers: []answer{{206, v1 + "\nContent-Range: bytes 4-9/10", "45", 6}, {206, v1 + "\nContent-Range: bytes 4-9/10", "456789", 0}},
			ranges:  []string{"bytes=4-", "bytes=4-"}, want: "456789", result: save.Result{Bytes: 6}},
		{name: "range without an end, server has no parts", rng: fetch.Range{First: 4}, answers: []answer{{200, v1, "0123456789", 0}},
			ranges: []string{"bytes=4-"}, want: "0123456789", result: save.Result{Bytes: 10}},
		{name: "breaks off too often", before: "old", o: save.Options{Retry: wrap.RetryOptions{Attempts: 2}},
			answers: []answer{{200, "", "0123", 10}, {200, "", "0123", 10}},
			ranges:  []string{"", ""}, fault: fetch.Truncated, want: "old"},
		{name: "error before the body: for the Client to retry", answers: []answer{{503, "", "busy", 0}},
			ranges: []string{""}, fault: fetch.TryLater},
		{name: "continues a file", o: resume, before: "0123", answers: []answer{{206, v1 + "\nContent-Range: bytes 4-9/10", "456789", 0}},
			ranges: []string{"bytes=4-"}, want: "0123456789", result: save.Result{Bytes: 10, Resumed: 4, Validator: `"v1"`}},
		{name: "continues a file, server has no parts", o: resume, before: "0123", answers: []answer{{200, v1, "abcdef", 0}},
			ranges: []string{"bytes=4-"}, want: "abcdef", result: save.Result{Bytes: 6, Validator: `"v1"`}},
		{name: "file is complete, server has no parts", o: resume, before: "0123", answers: []answer{{200, v1, "abcd", 0}},
			ranges: []string{"bytes=4-"}, want: "0123", result: save.Result{Bytes: 4, Resumed: 4, Validator: `"v1"`}},
		{name: "file is too long, server has no parts", o: resume, before: "0123", answers: []answer{{200, v1, "abc", 0}},
			ranges: []string{"bytes=4-"}, fault: fetch.Mismatch, want: "0123"},
		{name: "file is too long, object is empty", o: resume, before: "0123", answers: []answer{{200, "", "", 0}},
			ranges: []string{"bytes=4-"}, fault: fetch.Mismatch, want: "0123"},
		{name: "file is complete", o: resume, before: "0123", answers: []answer{{416, "Content-Range: bytes */4", "", 0}},
			ranges: []string{"bytes=4-"}, want: "0123", result: save.Result{Bytes: 4, Resumed: 4}},
		{name: "file is complete, size not reported", o: resume, before: "0123", answers: []answer{{416, "", "no such part", 0}},
			ranges: []string{"bytes=4-"}, want: "0123", result: save.Result{Bytes: 4, Resumed: 4}},
		{name: "file is too long", o: resume, before: "0123", answers: []answer{{416, "Content-Range: bytes */3", "", 0}},
			ranges: []string{"bytes=4-"}, fault: fetch.Denied, want: "0123"},
		{name: "from an offset", o: save.Options{Offset: 2}, before: "0123",
			answers: []answer{{206, "Content-Range: bytes 2-9/10", "23456789", 0}},
			ranges:  []string{"bytes=2-"}, want: "0123456789", result: save.Result{Bytes: 10, Resumed: 2}},
		{name: "from an offset, server has no parts", o: save.Options{Offset: 2}, before: "0123",
			answers: []answer{{200, "", "0123456789", 0}}, ranges: []string{"bytes=2-"}, fault: fetch.Protocol, want: "0123"},
		{name: "from an offset, no file", o: save.Options{Offset: 2},
			answers: []answer{{206, "Content-Range: bytes 2-9/10", "23456789", 0}},
			ranges:  []string{"bytes=2-"}, want: "23456789", result: save.Result{Bytes: 8}},
		{name: "metadata only", before: "old", op: fetch.Stat, fault: fetch.Usage, want: "old"},
		{name: "a range is not resumed", o: resume, rng: fetch.Range{First: 2}, fault: fetch.Usage},
		{name: "unchanged", since: time.Unix(1e9, 0), before: "old", answers: []answer{{304, "", "", 0}}, ranges: []string{""},
			want: "old", result: save.Result{Unchanged: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, url, ranges := serve(t, c.answers)
			path := filepath.Join(t.TempDir(), "out")
			if c.before != "" {
				if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			u, err := fetch.ParseURL(url)
			if err != nil {
				t.Fatal(err)
			}
			c.o.Retry.Delay = time.Nanosecond
			got, err := save.Fetch(t.Context(), client, &fetch.Request{URL: u, Op: c.op, Range: c.rng, Since: c.since}, path, c.o)
			if fault := fetch.FaultOf(err); fault != c.fault {
				t.Errorf("error %v of class %v, want %v", err, fault, c.fault)
			}
			got.Sum = nil
			if err == nil {
				c.result.URL, c.result.Path = u, path
			}
			if fmt.Sprint(got) != fmt.Sprint(c.result) {
				t.Errorf("result %+v, want %+v", got, c.result)
			}
			if !slices.Equal(*ranges, c.ranges) {
				t.Errorf("requests for %q, want %q", *ranges, c.ranges)
			}
			text, err := os.ReadFile(path)
			if string(text) != c.want || c.want == "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file holds %q, %v, want %q", text, err, c.want)
			}
		})
	}
}

// TestFetchWeak checks that Fetch requests some bytes again if the validator is
// weak, and starts again if they differ.
func TestFetchWeak(t *testing.T) {
	first := strings.Repeat("0123456789", 1000)
	for _, c := range []struct {
		name, rest, want string
		offsets          []int64
	}{
		{"same version", first[len(first)-4096:] + "rest", first + "rest", []int64{0, int64(len(first)) - 4096}},
		{"another version", strings.Repeat("x", 4100), strings.Repeat("x", len(first)+4), []int64{0, int64(len(first)) - 4096, 0}},
	} {
		var offsets []int64
		driver := func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
			offsets = append(offsets, req.Range.First)
			body := io.Reader(strings.NewReader(c.want))
			switch {
			case len(offsets) == 1:
				body = io.MultiReader(strings.NewReader(first), iotest.ErrReader(io.ErrUnexpectedEOF))
			case req.Range.First > 0:
				body = strings.NewReader(c.rest)
			}
			return &fetch.Response{
				URL: req.URL, Kind: fetch.Document, Size: int64(len(c.want)), Offset: req.Range.First, Validator: "date", Body: io.NopCloser(body),
			}, nil
		}
		client := fetch.New(fetch.Options{Policy: fetch.Typed()}, fetch.Scheme{
			Name: "weak", Port: 70, Traits: scheme.Traits{WeakValidators: true},
			Open: func(fetch.Env) fetch.Driver { return fetch.DriverFunc(driver) },
		})
		path := filepath.Join(t.TempDir(), "out")
		o := save.Options{Retry: wrap.RetryOptions{Delay: time.Nanosecond}}
		_, err := save.Fetch(t.Context(), client, &fetch.Request{URL: uri.MustParse("weak://h.test/x")}, path, o)
		text, _ := os.ReadFile(path)
		if err != nil || string(text) != c.want || !slices.Equal(offsets, c.offsets) {
			t.Errorf("%s: %v, %d bytes of requests from %v, want %d, %v", c.name, err, len(text), offsets, len(c.want), c.offsets)
		}
		client.Close()
	}
}
