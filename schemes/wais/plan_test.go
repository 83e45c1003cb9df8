package wais_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/uri"
)

func TestPlan(t *testing.T) {
	long := strings.Repeat("x", 65<<10)
	for _, c := range []struct{ name, url, want string }{
		{"index", "wais://h/db", "need-query: a database is an index and needs search words: add ?WORDS to the URL"},
		{"index of databases", "wais://h", "need-query: a database is an index and needs search words: add ?WORDS to the URL"},
		{"words", "wais://h/db?a+b%20c", "init 100000; search db a+b+c"},
		{"words for the index of databases", "wais://h/?x", "init 100000; search INFO x"},
		{"words, and no slash", "wais://h?x", "init 100000; search INFO x"},
		{"no words", "wais://h/db?", "init 100000; search db"},
		{"slash behind the database", "wais://h/db/?x", "init 100000; search db x"},
		{"boolean words", "wais://h/db?(a%20or%20b*)%20not%20c&d", "init 100000; search db %28a+or+b%2A%29+not+c%26d"},
		{"example of RFC 1630", "wais://quake.think.com/wais-discussion-archives?lynch", "init 100000; search wais-discussion-archives lynch"},
		{"few documents", "wais://h/db?x&max=3", "init 100000; search db x&max=3"},
		{"many documents need a large answer", "wais://h/db?x&max=10000", "init 5120000; search db x&max=10000"},
		{"too many documents for any answer", "wais://h/db?x&max=1000000", "init 8388608; search db x&max=1000000"},
		{"like a document", "wais://h/db?x&like=TEXT/5/3=a;", "init 100000; search db x&like=TEXT/5/3=a;"},
		{"like two, and no words", "wais://h/db?&like=TEXT/3=a;&like=GIF/%61%3B&lines=0,9&max=2", "init 100000; search db &like=TEXT/3=a;&like=GIF/a%3B&lines=0,9&max=2"},

		{"document with its length", "wais://h/db/TEXT/5/1=s%3A1;3=0%205%20/a/b;", "init 100000; retrieve db TEXT/5/1=s%3A1;3=0%205%20/a/b; bytes 0-5"},
		{"document by RFC 1630", "wais://h/db/TEXT/1=s;3=x;7=%00;", "init 100000; retrieve db TEXT/1=s;3=x;7=%00; bytes 0-"},
		{"document by its bytes", "wais://h/db/TEXT/%01%01s", "init 100000; retrieve db TEXT/1=s; bytes 0-"},
		{"document by bytes that are no fields", "wais://h/db/TEXT/any/thing?", "invalid-uri: a document cannot be searched: only a database is an index"},
		{"document by bytes, opaque", "wais://h/db/PS/any/thing", "init 100000; retrieve db PS/any%2Fthing bytes 0-"},
		{"last field without its end", "wais://h/db/TEXT/5/1=s;3=x;7=%00", "init 100000; retrieve db TEXT/5/1=s;3=x;7=%00; bytes 0-5"},
		{"text behind the last field is opaque", "wais://h/db/TEXT/1=s;x", "init 100000; retrieve db TEXT/1%3Ds%3Bx bytes 0-"},
		{"field without its end is opaque", "wais://h/db/PS/1=a", "init 100000; retrieve db PS/1%3Da bytes 0-"},
		{"field whose number does not fit is opaque", "wais://h/db/PS/4294967296=a;", "init 100000; retrieve db PS/4294967296%3Da%3B bytes 0-"},
		{"length zero is unknown", "wais://h/db/TEXT/0/3=x;", "init 100000; retrieve db TEXT/3=x; bytes 0-"},
		{"length before bytes is part of them", "wais://h/db/TEXT/12/x", "init 100000; retrieve db TEXT/12%2Fx bytes 0-"},
		{"empty field", "wais://h/db/TEXT/1=;", "init 100000; retrieve db TEXT/1=; bytes 0-"},
		{"fields out of order", "wais://h/db/TEXT/3=c;1=a;300=z;", "init 100000; retrieve db TEXT/3=c;1=a;300=z; bytes 0-"},
		{"dot segments in a field stay", "wais://h/db/TEXT/3=a%2F..%2Fb;", "init 100000; retrieve db TEXT/3=a%2F..%2Fb; bytes 0-"},
		{"lines", "wais://h/db/TEXT/5/3=x;#line=1,2", "init 100000; retrieve db TEXT/5/3=x; lines 1-2"},
		{"another fragment", "wais://h/db/TEXT/5/3=x;#top", "init 100000; retrieve db TEXT/5/3=x; bytes 0-5"},

		{"length that does not fit", "wais://h/db/TEXT/99999999999999999999/3=x;", "invalid-uri: the length of the document is too large"},
		{"document without id", "wais://h/db/TEXT", "invalid-uri: the document has no id"},
		{"document with an empty id", "wais://h/db/TEXT/", "invalid-uri: the document has no id"},
		{"document without type", "wais://h/db//3=x;", "invalid-uri: the type of the document is invalid"},
		{"type with a space", "wais://h/db/TE%20XT/3=x;", "invalid-uri: the type of the document is invalid"},
		{"id that is the name of a folder", "wais://h/db/TEXT/%2e%2E", "invalid-uri: invalid document id of 2 bytes"},
		{"id longer than any", "wais://h/db/TEXT/" + long[:65<<10], "invalid-uri: invalid document id of 66560 bytes"},
		{"database longer than any", "wais://h/" + long[:65<<9] + "?x", "invalid-uri: the database name has 33280 bytes"},
		{"database of another server", "wais://h/db%40evil:210?x", "invalid-uri: the database name contains a control character or @"},
		{"two databases", "wais://h/a%1Fb?x", "invalid-uri: the database name contains a control character or @"},
		{"NUL in the database", "wais://h/a%00?x", "invalid-uri: the database name contains a control character or @"},
		{"line break in the words", "wais://h/db?a%0D%0Ab", "invalid-uri: the search words contain a line break or NUL"},
		{"NUL in the words", "wais://h/db?a%00", "invalid-uri: the search words contain a line break or NUL"},
		{"max that is none", "wais://h/db?x&max=0", "invalid-uri: invalid max: want a number of documents"},
		{"max that does not fit", "wais://h/db?x&max=99999999", "invalid-uri: invalid max: want a number of documents"},
		{"like what is no document", "wais://h/db?x&like=TEXT", "invalid-uri: the document has no id"},
		{"lines of nothing", "wais://h/db?x&lines=1,2", "invalid-uri: lines without a document"},
		{"lines that are none", "wais://h/db?x&like=T/3=x;&lines=2,2", "invalid-uri: invalid lines: want A,B with A less than B"},
		{"fragment that is no lines", "wais://h/db/TEXT/3=x;#line=5", "invalid-uri: invalid lines: want A,B with A less than B"},
		{"words behind parameters", "wais://h/db?x&max=2&y", "invalid-uri: the search has words after its parameters"},
		{"like a hundred", "wais://h/db?x" + strings.Repeat("&like=T/3=x;", 100), "invalid-uri: the search names more than 32 documents"},
	} {
		if got := schemetest.Plan(schemes()[0], schemetest.NewRequest(t, c.url)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestPlanParts(t *testing.T) {
	const url = "wais://h/db/TEXT/100/3=x;"
	validator := "100-83443e4fa1e9b2ec0f5c4f9d5bdf3d2d"
	for _, c := range []struct {
		name, url string
		change    func(*fetch.Request)
		want      string
	}{
		{"part", url, func(r *fetch.Request) { r.Range = fetch.Range{First: 5, End: 9} }, "bytes 5-9"},
		{"from the end", url, func(r *fetch.Request) { r.Range.First = -5 }, "bytes 95-100"},
		{"nothing is missing", url, func(r *fetch.Request) { r.Range.First = 100 }, ""},
		{"behind the end", url, func(r *fetch.Request) { r.Range.First = 101 }, "server-perm: range starts at byte 101, but the document has 100 bytes"},
		{"another document by now", url, func(r *fetch.Request) { r.Range.First, r.IfSame = 5, validator }, "bytes 0-100"},
		{"unknown length", "wais://h/db/TEXT/3=x;", func(r *fetch.Request) { r.Range.First = 5 }, "bytes 5-"},
		{"unknown length, from the end", "wais://h/db/TEXT/3=x;", func(r *fetch.Request) { r.Range.First = -5 }, "unsupported: a range from the end needs a URL that contains the length of the document"},
		{"whether it is there", url, func(r *fetch.Request) { r.Op = fetch.Stat }, "bytes 0-1"},
		{"what a database is", "wais://h/db", func(r *fetch.Request) { r.Op = fetch.Stat }, "init 100000; search db; retrieve db its description"},
		{"what a search is", "wais://h/db?x", func(r *fetch.Request) { r.Op = fetch.Stat }, ""},
	} {
		req := schemetest.NewRequest(t, c.url)
		c.change(req)
		got := schemetest.Plan(schemes()[0], req)
		if i := strings.Index(got, "; bytes"); i >= 0 {
			got = got[i+2:]
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	like := func(urls ...string) (all []uri.URI) {
		for _, u := range urls {
			all = append(all, uri.MustParse(u))
		}
		return all
	}
	for _, c := range []struct {
		name, url string
		q         fetch.Search
		want      string
	}{
		{"words", "wais://h/db", fetch.Search{Words: "a b"}, "wais://h/db?a+b"},
		{"words that are more than letters", "wais://h:99/my%20db", fetch.Search{Words: "(é or x*) & y+z?"}, "wais://h:99/my%20db?%28%C3%A9+or+x%2A%29+%26+y%2Bz%3F"},
		{"no database", "wais://h", fetch.Search{Words: "a"}, "wais://h/INFO?a"},
		{"other words", "wais://h/db?old", fetch.Search{Words: "new", Max: 7}, "wais://h/db?new&max=7"},
		{"far too many", "wais://h/db", fetch.Search{Words: "x", Max: 1 << 40}, "wais://h/db?x&max=16777215"},
		{"like a document", "wais://h/db", fetch.Search{Like: like("wais://H:210/db/TEXT/5/3=a;")}, "wais://h/db?&like=TEXT/5/3=a;"},
		{"like lines, and one of another database", "wais://h/db", fetch.Search{Words: "w", Like: like("wais://h/db/TEXT/a&b#line=0,3", "wais://h/other/GIF/3=c;")}, "wais://h/db?w&like=TEXT/a%26b&lines=0,3&like=GIF/3=c;"},
		{"nothing", "wais://h/db", fetch.Search{}, "need-query: search requires search words"},
		{"a document", "wais://h/db/TEXT/3=a;", fetch.Search{Words: "a"}, "unsupported: a document cannot be searched"},
		{"like a document of another server", "wais://h/db", fetch.Search{Like: like("wais://i/db/TEXT/3=a;")}, "unsupported: the similar document must be on the same server"},
		{"like a page", "wais://h/db", fetch.Search{Like: like("http://h:210/")}, "unsupported: the similar document must be on the same server"},
		{"like a database", "wais://h/db", fetch.Search{Like: like("wais://h/db?x")}, "invalid-uri: the URL does not name a document"},
		{"line break", "wais://h/db", fetch.Search{Words: "a\r\nb"}, "invalid-uri: the search words contain a line break or NUL"},
	} {
		u, err := schemes()[0].Search(uri.MustParse(c.url), c.q)
		got := u.String()
		if err != nil {
			got = fmt.Sprintf("%v: %v", fetch.FaultOf(err), err)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		} else if err == nil {
			if plan := schemetest.Plan(schemes()[0], &fetch.Request{URL: u}); !strings.HasPrefix(plan, "init ") {
				t.Errorf("%s: %s cannot be fetched: %s", c.name, u, plan)
			}
		}
	}
}
