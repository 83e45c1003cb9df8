package fetch

import (
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// closer counts the calls of Close.
type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }

// lister is a scheme whose documents are lists of URLs, one per line. The line
// "broken" causes an error.
func lister(answer func(req *Request, resp *Response)) Scheme {
	s := page(answer)
	s.Menu = func(_ uri.URI, _ string, r io.Reader) iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			all, err := io.ReadAll(r)
			for _, line := range strings.Fields(string(all)) {
				if line == "broken" {
					err = Protocol.Errorf("broken listing")
				} else if !yield(Entry{Name: line, URL: uri.MustParse(line)}, nil) {
					return
				}
			}
			if err != nil {
				yield(Entry{}, err)
			}
		}
	}
	return s
}

// TestList checks that errors end the sequence, and that the Body is always
// closed.
func TestList(t *testing.T) {
	for _, test := range []struct {
		name, url, body string
		kind            Kind
		max             int // entries that the caller reads
		want            []string
		fault           Fault
		closed          int
	}{
		{"all entries", "http://8.8.8.8/", "http://8.8.8.8/a http://8.8.8.8/b", Menu, 9, []string{"http://8.8.8.8/a", "http://8.8.8.8/b"}, 0, 1},
		{"caller stops early", "http://8.8.8.8/", "http://8.8.8.8/a http://8.8.8.8/b", Menu, 1, []string{"http://8.8.8.8/a"}, 0, 1},
		{"error in the listing", "http://8.8.8.8/", "http://8.8.8.8/a broken", Menu, 9, []string{"http://8.8.8.8/a"}, Protocol, 1},
		{"no listing", "http://8.8.8.8/", "http://8.8.8.8/a", Document, 9, nil, Unsupported, 1},
		{"unknown kind", "http://8.8.8.8/", "http://8.8.8.8/a", Unknown, 9, nil, Unsupported, 1},
		{"empty", "http://8.8.8.8/", "", Menu, 9, nil, 0, 1},
		{"no URL", "no url", "", Menu, 9, nil, BadURL, 0},
		{"refused", "http://127.0.0.1/", "", Menu, 9, nil, BadAddress, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			closed := 0
			c := New(Options{Dial: (&recorder{}).dial}, lister(func(_ *Request, resp *Response) {
				resp.Kind, resp.Body = test.kind, closer{strings.NewReader(test.body), &closed}
			}))
			defer c.Close()
			var got []string
			var failed error
			for e, err := range c.List(t.Context(), test.url) {
				if failed != nil {
					t.Error("the sequence goes on after an error")
				}
				if failed = err; err != nil {
					continue
				}
				if got = append(got, e.Name); len(got) == test.max {
					break
				}
			}
			if !slices.Equal(got, test.want) || FaultOf(failed) != test.fault || closed != test.closed {
				t.Errorf("%q, %v, closed %d times", got, failed, closed)
			}
			var e *Error
			if failed != nil && (!errors.As(failed, &e) || e.Op == "" || e.URL != test.url && test.fault != BadURL) {
				t.Errorf("the error has no operation or URL: %#v", failed)
			}
		})
	}
}

// TestEntriesOfZeroResponse checks that Entries of a zero Response does not
// panic.
func TestEntriesOfZeroResponse(t *testing.T) {
	for _, err := range new(Response).Entries() {
		if !errors.Is(err, Unsupported) {
			t.Error(err)
		}
	}
}

// TestEntryRequest checks that the URL of an entry counts as supplied by the
// server, and that credentials stay at the origin of the listing.
func TestEntryRequest(t *testing.T) {
	for _, test := range []struct {
		name, list, entry string
		fault             Fault
		user              string // that the driver receives
		left              bool
	}{
		{"same server", "http://8.8.8.8/", "http://8.8.8.8/a", 0, "", false},
		{"same private server", "http://10.0.0.1/", "http://10.0.0.1/a", 0, "", false},
		{"login at the same origin", "http://joe:pw@8.8.8.8/", "http://8.8.8.8/a", 0, "joe", false},
		{"login at another origin", "http://joe:pw@8.8.8.8/", "http://9.9.9.9/a", 0, "", false},
		{"login in the URL of the entry", "http://8.8.8.8/", "http://eve:pw@8.8.8.8/a", 0, "", false},
		{"loopback from outside", "http://8.8.8.8/", "http://127.0.0.1/a", BadAddress, "", false},
		{"private from outside", "http://8.8.8.8/", "http://10.0.0.1/a", BadAddress, "", false},
		{"listing after a redirect", "http://8.8.8.8/away", "http://9.9.9.9/a", 0, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked *Request
			c := New(Options{Dial: (&recorder{}).dial, Policy: Typed()}, lister(func(req *Request, resp *Response) {
				asked = req
				if req.URL.Path() == "/away" {
					resp.Location = uri.MustParse("http://9.9.9.9/list")
				}
				text(resp, test.entry)
				resp.Kind = Menu
			}))
			defer c.Close()
			for e, err := range c.List(t.Context(), test.list) {
				if err != nil {
					t.Fatal(err)
				}
				req := e.Request()
				if req.Typed() || req.leftOrigin != test.left {
					t.Errorf("typed %v, left %v", req.Typed(), req.leftOrigin)
				}
				_, err = c.Do(t.Context(), req)
				user := ""
				if err == nil && asked.Auth != nil {
					user = asked.Auth.User
				}
				if FaultOf(err) != test.fault || user != test.user {
					t.Errorf("%v, user %q", err, user)
				}
			}
		})
	}
}

// TestEntryRequestOtherOrigin checks that a page of another origin does not
// become the first origin of a request by linking to itself.
func TestEntryRequestOtherOrigin(t *testing.T) {
	c := New(Options{Dial: (&recorder{}).dial}, lister(func(_ *Request, resp *Response) {
		text(resp, "http://9.9.9.9/next")
		resp.Kind = Menu
	}))
	defer c.Close()
	for e, err := range c.List(t.Context(), "http://8.8.8.8/") {
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(t.Context(), e.Request())
		if err != nil {
			t.Fatal(err)
		}
		if !resp.Request(e.URL).leftOrigin || resp.Request(e.URL).Typed() {
			t.Error("a link of 9.9.9.9 counts as one of 8.8.8.8 or as typed")
		}
		for e := range resp.Entries() {
			if !e.Request().leftOrigin {
				t.Error("the credentials of 9.9.9.9 may be looked for")
			}
		}
	}
}

// TestEntryRequestUnknown checks that the Policy rejects requests for entries
// and links of unknown source.
func TestEntryRequestUnknown(t *testing.T) {
	c := New(Options{Dial: (&recorder{}).dial}, lister(func(_ *Request, resp *Response) { text(resp, "") }))
	defer c.Close()
	for url, want := range map[string]Fault{"http://8.8.8.8/": BadReferral, "": BadURL} {
		var e Entry
		if err := e.UnmarshalJSON([]byte(`{"name":"x","url":"` + url + `","kind":"document"}`)); err != nil {
			t.Fatal(err)
		}
		for _, req := range []*Request{e.Request(), new(Response).Request(e.URL)} {
			if _, err := c.Do(t.Context(), req); !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", url, err, want)
			}
		}
	}
}
