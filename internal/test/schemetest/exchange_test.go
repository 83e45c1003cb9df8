package schemetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// respond returns the response to the URL x:NAME.
func respond(name string) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Document, Media: "text/plain", Proto: "X/1", Size: -1}
	text, err := "hello", io.EOF
	switch name {
	case "cut":
		text, err = "hel", fetch.Truncated.Errorf("cut")
	case "list":
		resp.Kind, text = fetch.Menu, "a\nb\n"
	case "wrong":
		resp.Kind, text = fetch.Menu, "a\n!\n"
	case "gone":
		return nil, fetch.NotFound.Errorf("x:gone is gone")
	}
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(text), iotest.ErrReader(err)))
	return resp, nil
}

func testScheme() fetch.Scheme {
	return fetch.Scheme{
		Name: "x",
		Plan: func(req *fetch.Request) ([]scheme.Step, error) {
			if req.URL.Path() == "gone" {
				return nil, fetch.BadURL.Errorf("no plan")
			}
			return []scheme.Step{{Verb: "ONE"}, {Verb: "TWO"}}, nil
		},
		Open: func(fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
				req.Trace.Notef("a note")
				return respond(req.URL.Path())
			})
		},
		Menu: func(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
			return func(yield func(fetch.Entry, error) bool) {
				all, _ := io.ReadAll(r)
				for name := range strings.Lines(string(all)) {
					if name == "!\n" {
						yield(fetch.Entry{}, fetch.Protocol.Errorf("no entry"))
						return
					}
					if !yield(fetch.Entry{Kind: fetch.Document, Name: name[:1], URL: base, Size: 5, Time: time.Unix(0, 0).UTC(), Extra: map[string]string{"z": "1", "y": "2"}}, nil) {
						return
					}
				}
			}
		},
	}
}

func TestDescribe(t *testing.T) {
	for name, want := range map[string]string{
		"text":  `document text/plain X/1: "hello"`,
		"cut":   `document text/plain X/1: "hel" truncated: read cut: cut`,
		"list":  "document \"a\" list 5 19700101000000 y=\"2\" z=\"1\"\ndocument \"b\" list 5 19700101000000 y=\"2\" z=\"1\"",
		"wrong": "document \"a\" wrong 5 19700101000000 y=\"2\" z=\"1\"\nprotocol: list wrong: no entry",
		"gone":  "not-found: get gone: gone is gone",
	} {
		c := NewClient(t, []fetch.Scheme{testScheme()})
		resp, err := c.Get(t.Context(), "x:"+name)
		if got := Describe(resp, err, "x:"); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	if got := Plan(testScheme(), NewRequest(t, "x:text")); got != "ONE; TWO" {
		t.Errorf("plan %s", got)
	}
	if got := Plan(testScheme(), NewRequest(t, "x:gone")); got != "invalid-uri: no plan" {
		t.Errorf("plan %s", got)
	}
}

func TestExchange(t *testing.T) {
	c := NewClient(t, []fetch.Scheme{testScheme()})
	for name, want := range map[string]string{"text": `ok "hello"`, "cut": `truncated "hel"`, "gone": `not-found ""`} {
		r := Exchange(t.Context(), c, NewRequest(t, "x:"+name))
		if got := fmt.Sprintf("%s %q", r.Fault(), r.Body); got != want || !slices.Equal(r.Notes, []string{"a note"}) || (r.Response == nil) != (name == "gone") {
			t.Errorf("%s: got %s, notes %q, want %s", name, got, r.Notes, want)
		}
	}
	for name, want := range map[string]int{"list": 2, "wrong": 1, "gone": 0} {
		all, err := List(t, c, "x:"+name)
		if len(all) != want || (err == nil) != (name == "list") {
			t.Errorf("%s: got %d entries, %v", name, len(all), err)
		}
		if err := Drain(c.Get(t.Context(), "x:"+name)); (err == nil) != (name == "list") {
			t.Errorf("%s: drained with %v", name, err)
		}
	}
	if err := Drain(c.Get(t.Context(), "x:cut")); !errors.Is(err, fetch.Truncated) {
		t.Errorf("cut: drained with %v", err)
	}
}

// TestChecks gives the checks results that they must report.
func TestChecks(t *testing.T) {
	lost := fetch.Truncated.Errorf("cut")
	for _, test := range []struct {
		name        string
		r           Result
		fault, body string
		errs        int
	}{
		{"right", Result{Body: "a"}, "ok", "a", 0},
		{"right error", Result{Body: "a", Err: lost}, "truncated", "a", 0},
		{"body", Result{Body: "b"}, "ok", "a", 1},
		{"error", Result{Body: "a", Err: lost}, "ok", "a", 1},
		{"no error", Result{Body: "a"}, "truncated", "a", 1},
		{"time", Result{Body: "a", Took: 2 * time.Second}, "ok", "a", 1},
		{"control character", Result{Err: fetch.Protocol.Errorf("\x1b[2J")}, "protocol", "", 1},
		{"two mistakes", Result{Err: fetch.Protocol.Errorf("\r")}, "ok", "", 2},
	} {
		if errs := test.r.check(test.fault, test.body, time.Second); len(errs) != test.errs {
			t.Errorf("%s: got %v, want %d errors", test.name, errs, test.errs)
		}
	}
	session := &fetch.Response{Input: discard{}}
	for _, test := range []struct {
		name string
		r    Result
		hit  bool
		errs int
	}{
		{"complete", Result{Body: "hello"}, false, 0},
		{"complete although something failed", Result{Body: "hello"}, true, 0},
		{"error", Result{Body: "hel", Err: lost}, true, 0},
		{"session that ends early", Result{Body: "hel", Response: session}, true, 0},
		{"session that ends early by itself", Result{Body: "hel", Response: session}, false, 1},
		{"incomplete without an error", Result{Body: "hel"}, true, 1},
		{"other bytes", Result{Body: "help", Err: lost}, true, 1},
		{"error without a failure", Result{Err: lost}, false, 1},
		{"error without a class", Result{Err: errors.New("x")}, true, 1},
		{"endless", Result{Body: "hello", Took: time.Hour}, true, 1},
	} {
		if errs := (Sweep{Body: "hello"}).check(test.r, test.hit); len(errs) != test.errs {
			t.Errorf("sweep, %s: got %v, want %d errors", test.name, errs, test.errs)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
