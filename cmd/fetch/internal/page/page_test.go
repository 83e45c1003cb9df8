package page

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// testScheme returns the properties of schemes that pages depend on.
func testScheme(name string) fetch.Scheme {
	s := fetch.Scheme{Name: name}
	s.Traits.Web, s.Traits.Embedded = name == "http", name == "data"
	return s
}

// load loads a response with the given media type and body.
func load(t *testing.T, u, media, body string, o Options) *Page {
	t.Helper()
	o.Scheme = testScheme
	p, err := Load(response(u, media, body), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func response(u, media, body string) *fetch.Response {
	return &fetch.Response{URL: uri.MustParse(u), Kind: fetch.Document, Media: media, Size: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body))}
}

func TestDocument(t *testing.T) {
	for _, c := range []struct {
		name, media, body string
		kind              Kind
		want              string
	}{
		{"text", "text/plain", "a\nb", Text, "a\nb"},
		{"text of unknown type", "", "a", Text, "a"},
		{"empty document", "", "", Text, ""},
		{"binary", "text/plain", "a\x00b", File, ""},
		{"Latin-1", "text/plain; charset=iso-8859-1", "caf\xe9", Text, "café"},
		{"no charset", "text/plain", "caf\xe9 \x93", Text, "café “"},
		{"byte order mark", "text/plain", "\xef\xbb\xbfa", Text, "a"},
		{"UTF-16", "text/plain", "\xff\xfea\x00b\x00", Text, "ab"},
		{"Japanese", "text/plain; charset=Shift_JIS", "\x93\xfa", Text, "日"},
		{"unknown charset", "text/plain; charset=x-none", "a\xe9", Text, "aé"},
		{"HTML", "text/html; charset=utf-8", "<h1>é</h1>", Text, "é\n=\n"},
		{"XHTML", "application/xhtml+xml", "<p>a</p>", Text, "a\n"},
		{"PDF", "application/pdf", "%PDF-1.7\n\xff\x00", File, ""},
	} {
		if p := load(t, "http://h/x", c.media, c.body, Options{}); p.Kind != c.kind || p.Text != c.want {
			t.Errorf("%s: got kind %d, %q, want %d, %q", c.name, p.Kind, p.Text, c.kind, c.want)
		}
	}
}

func TestHTMLLinks(t *testing.T) {
	p := load(t, "http://u:secret@h/d/page", "text/html", `<title>T</title><base href="/b/"><a href=x>one</a> <a href=#y>two</a>
		<a href="javascript:z()">three</a> <a href="//other/"></a> <a href=x>again</a> <a href="mailto:a@b">four</a>`, Options{})
	var got []string
	for _, item := range p.Items {
		got = append(got, fmt.Sprint(item.Number, " ", item.Name, " ", item.URL))
	}
	want := "1 one http://h/b/x, 2 other http://other/, 3 four mailto:a@b"
	if strings.Join(got, ", ") != want || p.Title != "T" || p.URL.String() != "http://h/d/page" {
		t.Errorf("got %q, title %q, URL %s", got, p.Title, p.URL)
	}
	if p.Text != "one[1] two three [2] again[1] four[3]\n" {
		t.Errorf("got text %q", p.Text)
	}
}

func TestLimits(t *testing.T) {
	p := load(t, "http://h/x", "text/plain", strings.Repeat("x", 100), Options{MaxBytes: 10})
	if !p.Truncated || len(p.Text) != 10 {
		t.Errorf("got %d bytes, truncated %v", len(p.Text), p.Truncated)
	}
	p = load(t, "http://h/x", "text/html", `<a href=a>a</a><a href=b>b</a><a href=c>c</a>`, Options{MaxItems: 2})
	if !p.Truncated || p.Len() != 2 || p.Text != "a[1]b[2]c\n" {
		t.Errorf("got %d links, %q", p.Len(), p.Text)
	}
	long := `<base href="http://h/` + strings.Repeat("x", 60_000) + `/">`
	for i := range 1000 {
		long += fmt.Sprintf("<a href=%d>a</a>", i)
	}
	p = load(t, "http://h/x", "text/html", long, Options{})
	if !p.Truncated || p.Len() < 50 || p.Memory() > 2*maxBytes {
		t.Errorf("a long base: %d links, %d bytes", p.Len(), p.Memory())
	}
	p = New("archive")
	for range 3 {
		p.Add(fetch.Entry{URL: uri.MustParse("a:b")}, Options{MaxItems: 2})
	}
	if !p.Truncated || p.Len() != 2 || p.Memory() < 500 {
		t.Errorf("got %d entries, %d bytes", p.Len(), p.Memory())
	}
}

// TestListing loads a listing from a Client, and checks that its entries are
// links from the listing.
func TestListing(t *testing.T) {
	menu := func(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
		return func(yield func(fetch.Entry, error) bool) {
			text, err := io.ReadAll(r)
			for name := range strings.FieldsSeq(string(text)) {
				e := fetch.Entry{Name: name, Kind: fetch.Info, Raw: "raw"}
				if name != "info" {
					e.Kind, e.URL = fetch.Document, uri.MustParse("test://h/"+name)
				}
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(fetch.Entry{}, err)
			}
		}
	}
	body := io.MultiReader(strings.NewReader("a info b"))
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, fetch.Scheme{Name: "test", Port: 7000, Menu: menu,
		Open: func(fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
				return &fetch.Response{URL: req.URL, Kind: fetch.Menu, Body: io.NopCloser(body), Size: -1}, nil
			})
		}})
	defer client.Close()
	resp, err := client.Get(context.Background(), "test://h/")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(resp, Options{Scheme: client.Scheme})
	if err != nil || p.Kind != Listing || len(p.Items) != 3 || p.Len() != 2 {
		t.Fatalf("got %+v, %v", p, err)
	}
	item, ok := p.Item(2)
	if req := p.Request(item.URL); !ok || item.Name != "b" || item.Raw != "" || req.Typed() || req.From.URL.String() != "test://h/" {
		t.Errorf("got %+v, request %+v", item, req)
	}
	if _, ok := p.Item(0); ok {
		t.Error("a line without a URL can be opened")
	}
	if p.Request(item.URL); (&Page{}).Request(item.URL).Typed() {
		t.Error("a link of an unknown page is treated as typed")
	}
}
