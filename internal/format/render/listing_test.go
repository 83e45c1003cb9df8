package render

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// testLinks makes links that name their purpose.
type testLinks struct{}

func (testLinks) Page(u uri.URI) string   { return "/page/" + u.Unredacted() }
func (testLinks) Bytes(u uri.URI) string  { return "/bytes/" + u.Unredacted() }
func (testLinks) Inline(u uri.URI) string { return "/inline/" + u.Unredacted() }
func (testLinks) Part(u uri.URI, number string) string {
	return "/part/" + number + "/" + u.Unredacted()
}
func (testLinks) Preview(u uri.URI) string { return "/preview/" + u.String() }

func (testLinks) Sorted(column string, number int) string {
	return "/sorted/" + column + "/" + strconv.Itoa(number)
}
func (testLinks) Query(u uri.URI) (string, []Field, bool) {
	return "/query", []Field{{"url", u.String()}}, true
}

// newView returns a view of a document whose listing has the given entries.
func newView(u, media, body string, entries ...fetch.Entry) *View {
	v := &View{
		URL: uri.MustParse(u), Links: testLinks{}, Schemes: testScheme,
		Problem: func(err error) string { return "Problem: " + err.Error() },
		Response: &fetch.Response{
			Kind: fetch.Menu, Media: media, Size: -1, Body: io.NopCloser(strings.NewReader(body)),
		},
	}
	v.Scheme = testScheme(v.URL.Scheme())
	v.Scheme.Menu = func(uri.URI, string, io.Reader) iter.Seq2[fetch.Entry, error] {
		return func(yield func(fetch.Entry, error) bool) {
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	return v
}

// testScheme returns a scheme with the properties that pages show.
func testScheme(name string) fetch.Scheme {
	s := fetch.Scheme{Name: name}
	switch name {
	case "ftp":
		s.Traits = scheme.Traits{Listing: scheme.Directory, Parents: scheme.Folders}
	case "gopher":
		s.Traits.Listing = scheme.ItemMenu
	case "news":
		s.Traits = scheme.Traits{Listing: scheme.Newsgroup, Message: func(u uri.URI, id string) (uri.URI, error) {
			return u.WithPath("/" + id)
		}}
	case "telnet":
		s.Traits.Session = true
	}
	return s
}

// write returns the page of a view.
func (v *View) page(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	if err := v.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func file(name string, size int64, day int) fetch.Entry {
	return fetch.Entry{Name: name, URL: uri.MustParse("ftp://h/" + uri.Escape(name, uri.Segment)), Kind: fetch.Document, Size: size,
		Media: "text/plain", Time: time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC)}
}

func info(text string) fetch.Entry { return fetch.Entry{Name: text, Kind: fetch.Info, Size: -1} }

var rowNames = regexp.MustCompile(`class="name"[^>]*>(?:<a href="[^"]*">)?([^<]*)<`)

// TestOrder checks the order of rows, and the attributes and links of the
// headers.
func TestOrder(t *testing.T) {
	entries := []fetch.Entry{info("A note"), file("b", 30, 1), file("C", 10, 3), file("a", 20, 2)}
	for name, c := range map[string]struct {
		order string
		rows  string
		want  []string
	}{
		"order of the server": {"", "A note,b,C,a", []string{`href="/sorted/name/1"`, `href="/sorted/-size/1"`, "3 entries", "!aria-sort"}},
		"name":                {"name", "a,b,C", []string{`aria-sort="ascending"><a href="/sorted/-name/1">Name`, `href="/sorted//1"`}},
		"name descending":     {"-name", "C,b,a", []string{`aria-sort="descending"><a href="/sorted/name/1">Name`}},
		"size":                {"size", "C,a,b", nil},
		"date descending":     {"-date", "C,a,b", []string{`<time datetime="2024-01-03T00:00:00Z"><span class="nobr">2024-01-03</span> <span class="nobr">00:00</span></time>`}},
	} {
		t.Run(name, func(t *testing.T) {
			v := newView("ftp://h/pub/dir/", "text/x-list", "", entries...)
			var ok bool
			if v.Order, ok = ParseOrder(c.order); !ok {
				t.Fatal("the order is invalid")
			}
			page := v.page(t)
			var rows []string
			for _, m := range rowNames.FindAllStringSubmatch(page, -1) {
				rows = append(rows, m[1])
			}
			if got := strings.Join(rows, ","); got != c.rows {
				t.Errorf("rows %s, want %s", got, c.rows)
			}
			contains(t, page, append(c.want, `<a href="/page/ftp://h/pub/">pub</a>`)...)
		})
	}
	for _, text := range []string{"x", "-", "name;", "Size"} {
		if _, ok := ParseOrder(text); ok {
			t.Errorf("ParseOrder accepts %q", text)
		}
	}
}

// contains checks the texts of a page. A text that begins with "!" must be
// missing.
func contains(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		absent, negated := strings.CutPrefix(text, "!")
		if strings.Contains(page, absent) == negated {
			t.Errorf("%q: found = %v in\n%s", absent, negated, page)
		}
	}
}

// TestPaging checks the pages of long listings.
func TestPaging(t *testing.T) {
	for name, c := range map[string]struct {
		entries, number int
		order           string
		first           string
		rows            int
		want            []string
	}{
		"last entry fits":    {1000, 1, "", "f0", 1000, []string{"1000 entries<", "!Next page"}},
		"first page":         {1001, 1, "", "f0", 1000, []string{`rel="next" href="/sorted//2"`, "!Previous page"}},
		"second page":        {1001, 2, "", "f1000", 1, []string{"1 entry on page 2", `rel="prev" href="/sorted//1"`, "!Next page"}},
		"page after the end": {1001, 9, "", "", 0, []string{"0 entries on page 9", `href="/sorted//8"`}},
		"sorted second page": {10_000, 2, "-size", "f8999", 1000, []string{`href="/sorted/-size/3"`, `href="/sorted/-size/1"`}},
		"too long to be sorted": {10_001, 1, "-size", "f0", 1000, []string{
			"too long to be sorted", `href="/sorted//2"`, "!aria-sort"}},
		"page of a listing that is too long": {12_000, 11, "size", "f10000", 1000, []string{"too long", `href="/sorted//12"`}},
	} {
		t.Run(name, func(t *testing.T) {
			var entries []fetch.Entry
			for n := range c.entries {
				entries = append(entries, file(fmt.Sprint("f", n), int64(n), 1))
			}
			v := newView("ftp://h/", "text/x-list", "", entries...)
			v.Order, _ = ParseOrder(c.order)
			v.Number = c.number
			page := v.page(t)
			rows := rowNames.FindAllStringSubmatch(page, -1)
			if len(rows) != c.rows || c.rows > 0 && rows[0][1] != c.first {
				t.Errorf("%d rows", len(rows))
			}
			if len(page) > 2000 && !t.Failed() {
				page = page[:1500] + page[len(page)-1500:]
			}
			contains(t, page, c.want...)
		})
	}
}

func article(id, subject, references string) fetch.Entry {
	return fetch.Entry{Name: subject, URL: uri.MustParse("news:" + id), Kind: fetch.Document, Media: messageMedia, Size: -1,
		Extra: map[string]string{"message_id": "<" + id + ">", "references": references, "from": "by" + id[:1] + " <x@example.org>"}}
}

// TestThreads checks the lists of newsgroups. Each article is written as
// "name(replies)".
func TestThreads(t *testing.T) {
	for name, c := range map[string]struct {
		want    string
		entries []fetch.Entry
	}{
		"reply":                    {"Moon(by2)", []fetch.Entry{article("1@h", "Moon", ""), article("2@h", "Re: Moon", "<1@h>")}},
		"reply with a new subject": {"Moon(Sun)", []fetch.Entry{article("1@h", "Moon", ""), article("2@h", "Sun", "<1@h>")}},
		"reply before the article": {"Moon(by2) Z", []fetch.Entry{article("2@h", "Re: Moon", "<1@h>"), article("1@h", "Moon", ""), article("3@h", "Z", "")}},
		"reply to a reply":         {"A(by2(by3) by4) B", []fetch.Entry{article("1@h", "A", ""), article("2@h", "Re: A", "<1@h>"), article("4@h", "re: a", "<1@h>"), article("3@h", "Re: A", "<1@h> <2@h>"), article("5@h", "B", "")}},
		"missing article between":  {"A(by3)", []fetch.Entry{article("1@h", "A", ""), article("3@h", "Re: A", "<1@h> <2@h>")}},
		"missing first article":    {"Re: A B", []fetch.Entry{article("2@h", "Re: A", "<1@h>"), article("3@h", "B", "")}},
		"article refers to itself": {"A", []fetch.Entry{article("1@h", "A", "<1@h>")}},
		"circle":                   {"B(by1)", []fetch.Entry{article("1@h", "Re: B", "<2@h>"), article("2@h", "B", "<1@h>")}},
		"two articles with one id": {"A(by3) A", []fetch.Entry{article("1@h", "A", ""), article("1@h", "A", ""), article("3@h", "Re: A", "<1@h>")}},
		"malformed overview line":  {"A(by2) x", []fetch.Entry{article("1@h", "A", ""), info("x"), article("2@h", "Re: A", "<1@h>")}},
		"markup in a subject":      {"&lt;b&gt;(by2)", []fetch.Entry{article("1@h", "<b>", ""), article("2@h", "Re: <b>", "<1@h>")}},
	} {
		t.Run(name, func(t *testing.T) {
			page := newView("news://h/g", "text/x-nntp-overview", "", c.entries...).page(t)
			if got := threadsOf(page); got != c.want {
				t.Errorf("got %q, want %q in\n%s", got, c.want, page)
			}
		})
	}
}

var threadTokens = regexp.MustCompile(`(<ul>)|(</ul>)|<li>(?:<a[^>]*>)?([^<]*)`)

// threadsOf returns the threads in a page, in the form of TestThreads.
func threadsOf(page string) string {
	_, list, _ := strings.Cut(page, `<ul class="threads">`)
	list, _, _ = strings.Cut(list, `<p class="count">`)
	var b strings.Builder
	for _, m := range threadTokens.FindAllStringSubmatch(strings.TrimSuffix(strings.TrimSpace(list), "</ul>"), -1) {
		switch {
		case m[1] != "":
			b.WriteString("(")
		case m[2] != "":
			b.WriteString(")")
		case b.Len() == 0 || strings.HasSuffix(b.String(), "("):
			b.WriteString(m[3])
		default:
			b.WriteString(" " + m[3])
		}
	}
	return b.String()
}

// TestDeepThread checks that a long chain of replies has a limited indentation.
func TestDeepThread(t *testing.T) {
	entries := []fetch.Entry{article("0@h", "A", "")}
	for n := 1; n < 10_000; n++ {
		entries = append(entries, article(fmt.Sprintf("%d@h", n), "Re: A", fmt.Sprintf("<%d@h>", n-1)))
	}
	page := newView("news://h/g", "text/x-nntp-overview", "", entries...).page(t)
	if got := strings.Count(page, "<ul>"); got != maxIndent {
		t.Errorf("%d lists, want %d", got, maxIndent)
	}
	if open, closed := strings.Count(page, "<li>"), strings.Count(page, "</li>"); open != closed {
		t.Errorf("%d items are opened and %d closed", open, closed)
	}
}
