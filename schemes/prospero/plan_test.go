package prospero_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/uri"
)

// planOf returns the plan without the first lines, which are always the same.
func planOf(req *fetch.Request) string {
	return strings.TrimPrefix(schemetest.Plan(schemes()[0], req), "VERSION 5 fetch; AUTHENTICATE '' UNAUTHENTICATED anonymous; ")
}

func TestPlan(t *testing.T) {
	const list = "; LIST ATTRIBUTES COMPONENTS (else GET-OBJECT-INFO)"
	for _, c := range []struct{ name, url, want string }{
		{"name", "prospero://h/AFTP/pub", "DIRECTORY ASCII AFTP/pub" + list},
		{"example of RFC 1738: a slash begins the name", "prospero://host.dom//pros/name", "DIRECTORY ASCII /pros/name" + list},
		{"root", "prospero://h", "DIRECTORY ASCII ''" + list},
		{"root, with its slash", "prospero://h/", "DIRECTORY ASCII ''" + list},
		{"name that wants quotes", "prospero://h/odd%20names/it's", "DIRECTORY ASCII 'odd names/it''s'" + list},
		{"name with what parts a URL", "prospero://h/a%3Bb%3Fc%23d%25%2Fe", "DIRECTORY ASCII a;b?c#d%/e" + list},
		{"question mark is part of a name", "prospero://h/a?b=c", "DIRECTORY ASCII a?b=c" + list},
		{"name that is no UTF-8", "prospero://h/%FF", "DIRECTORY ASCII '\xff'" + list},
		{"version", "prospero://h/x;OBJECT-VERSION=2", "DIRECTORY ASCII x 2" + list},
		{"version in lower case, and other fields", "prospero://h/x;a=b;object-version=10;c=d", "DIRECTORY ASCII x 10" + list},
		{"version with zeros before it", "prospero://h/x;OBJECT-VERSION=02", "DIRECTORY ASCII x 2" + list},
		{"version 0 is any", "prospero://h/x%000", "DIRECTORY ASCII x" + list},
		{"version of RFC 1630", "prospero://h/x%003", "DIRECTORY ASCII x 3" + list},
		{"version of RFC 1630 with fields", "prospero://h/x%003;a=b", "DIRECTORY ASCII x 3" + list},
		{"encoded semicolon begins no field", "prospero://h/x%3BOBJECT-VERSION=2", "DIRECTORY ASCII x;OBJECT-VERSION=2" + list},
		{"empty fields", "prospero://h/x;;", "DIRECTORY ASCII x" + list},
		{"archie", "prospero://h/ARCHIE/MATCH(95,0,=)/xarchie", "DIRECTORY ASCII ARCHIE/MATCH(95,0,=)/xarchie; LIST ATTRIBUTES COMPONENTS"},
		{"archie of version 3", "prospero://h/ARCHIE/MATCH(100,0,0,0,S)/x%20y", "DIRECTORY ASCII 'ARCHIE/MATCH(100,0,0,0,S)/x y'; LIST ATTRIBUTES COMPONENTS"},
		{"archie's sites", "prospero://h/ARCHIE/HOST/ftp.example.org/pub", "DIRECTORY ASCII ARCHIE/HOST/ftp.example.org/pub; LIST ATTRIBUTES COMPONENTS"},

		{"line end", "prospero://h/x%0AGET-OBJECT-INFO", "invalid-uri: the name of the object contains a line break or NUL"},
		{"carriage return", "prospero://h/x%0D", "invalid-uri: the name of the object contains a line break or NUL"},
		{"NUL that is no version", "prospero://h/x%00y", "invalid-uri: invalid version of the object: want a number"},
		{"two NULs", "prospero://h/x%002%003", "invalid-uri: invalid version of the object: want a number"},
		{"NUL in a field", "prospero://h/x;a=%00", "invalid-uri: the name of the object contains a line break or NUL"},
		{"line end in a field", "prospero://h/x;a%0A=b", "invalid-uri: the name of the object contains a line break or NUL"},
		{"version that is none", "prospero://h/x;OBJECT-VERSION=2%20x", "invalid-uri: invalid version of the object: want a number"},
		{"field without value", "prospero://h/x;a", "invalid-uri: invalid field or too many fields: want NAME=VALUE"},
		{"field without name", "prospero://h/x;=a", "invalid-uri: invalid field or too many fields: want NAME=VALUE"},
		{"too many fields", "prospero://h/x" + strings.Repeat(";a=b", 33), "invalid-uri: invalid field or too many fields: want NAME=VALUE"},
	} {
		if got := planOf(request(t, c.url)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	for url, want := range map[string]string{
		"prospero://h/x;OBJECT-VERSION=2":     "GET-OBJECT-INFO #ALL ASCII x 2 (else LIST)",
		"prospero://h/x":                      "GET-OBJECT-INFO #ALL ASCII x 0 (else LIST)",
		"prospero://h/ARCHIE/MATCH(95,0,=)/x": "",
	} {
		req := request(t, url)
		if req.Op = fetch.Stat; planOf(req) != want {
			t.Errorf("stat %s: got %s", url, planOf(req))
		}
	}
}

func TestQuery(t *testing.T) {
	for _, c := range []struct {
		name, url string
		o         prospero.Options
		q         fetch.Search
		want      string
	}{
		{"a server", "prospero://archie.example", prospero.Options{}, fetch.Search{Words: "fetch"}, "prospero://archie.example/ARCHIE/MATCH(95,0,S)/fetch"},
		{"its archie, fewer hits, exactly", "prospero://h:191/ARCHIE", prospero.Options{Match: '='}, fetch.Search{Words: "x", Max: 5}, "prospero://h:191/ARCHIE/MATCH(5,0,=)/x"},
		{"another search", "prospero://h/ARCHIE/MATCH(1,2,R)/old", prospero.Options{Match: 'r'}, fetch.Search{Words: "^new;?/$", Max: 1 << 30}, "prospero://h/ARCHIE/MATCH(99999,0,r)/%5Enew%3B%3F/$"},
		{"words with a path in them", "prospero://h", prospero.Options{}, fetch.Search{Words: "../a"}, "prospero://h/ARCHIE%2FMATCH(95,0,S)%2F..%2Fa"},
		{"no words", "prospero://h", prospero.Options{}, fetch.Search{}, "need-query: search requires search words"},
		{"a directory", "prospero://h/AFTP", prospero.Options{}, fetch.Search{Words: "x"}, "unsupported: prospero://h/AFTP cannot be searched: only archie names are indexes"},
		{"like something", "prospero://h", prospero.Options{}, fetch.Search{Words: "x", Like: []uri.URI{uri.MustParse("prospero://h/x")}}, "unsupported: prospero does not support relevance feedback"},
		{"line end", "prospero://h", prospero.Options{}, fetch.Search{Words: "a\nb"}, "invalid-uri: the search words contain a line break or NUL"},
		{"match that is none", "prospero://h", prospero.Options{Match: '\n'}, fetch.Search{Words: "a"}, `usage: archie does not support the match '\n'`},
	} {
		u, err := prospero.Schemes(c.o)[0].Search(uri.MustParse(c.url), c.q)
		got := u.String()
		if err != nil {
			got = fmt.Sprintf("%v: %v", fetch.FaultOf(err), err)
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
