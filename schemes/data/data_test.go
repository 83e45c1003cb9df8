package data_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/data"
	"github.com/anyurl/fetch/uri"
)

// TestURLs checks the object of each URL. The first URLs are from RFC 2397.
func TestURLs(t *testing.T) {
	c := schemetest.NewClient(t, data.Schemes())
	const plain = "text/plain;charset=US-ASCII data "
	for url, want := range map[string]string{
		"data:,A%20brief%20note":                                                  "document " + plain + `12 bytes: "A brief note"`,
		"data:text/plain;charset=iso-8859-7,%be%d3%be":                            "document text/plain;charset=iso-8859-7 data 3 bytes: \"\\xbeӾ\"",
		"data:image/gif;base64,R0lGODdhMAAwAPAAAAAAAP///ywAAAAAMAAw":              "document image/gif data 27 bytes: \"GIF87a0\\x000\\x00\\xf0\\x00\\x00\\x00\\x00\\x00\\xff\\xff\\xff,\\x00\\x00\\x00\\x000\\x000\"",
		"data:application/vnd-xxx-query,select_vcount,fcol_from_fieldtable/local": `document application/vnd-xxx-query data 40 bytes: "select_vcount,fcol_from_fieldtable/local"`,
		"data:,":                                "document " + plain + `0 bytes: ""`,
		"data:;charset=utf-8,%C3%A9":            `document text/plain;charset=utf-8 data 2 bytes: "é"`,
		"data:;base64,QQ":                       "document " + plain + `1 bytes: "A"`,
		"data:;BASE64,QQ==":                     "document " + plain + `1 bytes: "A"`,
		"data:;base64,Q%20Q%0A%3D%3D":           "document " + plain + `1 bytes: "A"`,
		"data:;base64,-_-_":                     "document " + plain + `3 bytes: "\xfb\xff\xbf"`,
		"data:,a?b,c":                           "document " + plain + `5 bytes: "a?b,c"`,
		"data:,a#b":                             "document " + plain + `1 bytes: "a"`,
		"data:text/html,%3Cb%3E":                `document text/html data 3 bytes: "<b>"`,
		"DATA:text/x,%1b":                       `document text/x data 1 bytes: "\x1b"`,
		"data:text/plain;charset=%22a%2Cb%22,x": `document text/plain;charset="a,b" data 1 bytes: "x"`,
		"data:;base64,Q":                        "invalid-uri: get data:;base64,Q: invalid base64 in a data URL: illegal base64 data at input byte 0",
		"data:;base64,Q$$Q":                     "invalid-uri: get data:;base64,Q$$Q: invalid base64 in a data URL: illegal base64 data at input byte 1",
		"data:text/plain":                       "invalid-uri: get data:text/plain: data URL must be data:TYPE,TEXT or data:TYPE;base64,TEXT",
		"data://h/,x":                           "invalid-uri: get data://h/,x: data URL must be data:TYPE,TEXT or data:TYPE;base64,TEXT",
		"data:text,x":                           "invalid-uri: get data:text,x: invalid media type in a data URL",
		"data:a/b%0d%0ac:d,x":                   "invalid-uri: get data:a/b%0d%0ac:d,x: invalid media type in a data URL",
	} {
		resp, err := c.Get(t.Context(), url)
		if got := schemetest.Describe(resp, err, ""); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", url, got, want)
		}
	}
}

// TestReferral checks that no document may lead to a data URL.
func TestReferral(t *testing.T) {
	c := schemetest.NewClient(t, data.Schemes())
	from := &fetch.Source{URL: uri.MustParse("data:,x")}
	if _, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse("data:,y"), From: from}); fetch.FaultOf(err) != fetch.BadReferral {
		t.Errorf("got %v", err)
	}
}

func TestPlan(t *testing.T) {
	want := "decode base64, 1 bytes, text/x"
	if got := schemetest.Plan(data.Schemes()[0], schemetest.NewRequest(t, "data:text/x;base64,QQ")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSuite(t *testing.T) {
	text := strings.Repeat("0123456789", 6000)
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: data.Schemes, Document: "data:," + text, Body: []byte(text),
		Rejected: []string{"data:x", "data:;base64,a"}, Local: true,
	})
}

// FuzzDecode checks that a data URL has an object or an error of the right class.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{",x", ";base64,QQ", "text/html;a=\"b,c\",x", "a/b;base64;base64,Q", "//h/,", "%"} {
		f.Add("data:" + s)
	}
	c := fetch.New(fetch.Options{Policy: fetch.Typed()}, data.Schemes()...)
	f.Fuzz(func(t *testing.T, url string) {
		u, err := fetch.ParseURL(url)
		if err != nil || u.Scheme() != "data" {
			return
		}
		resp, err := c.Do(t.Context(), &fetch.Request{URL: u})
		if err != nil {
			if fetch.FaultOf(err) != fetch.BadURL && fetch.FaultOf(err) != fetch.BadAddress && fetch.FaultOf(err) != fetch.BadPort {
				t.Errorf("got %v", err)
			}
			return
		}
		defer resp.Body.Close()
		if strings.ContainsAny(resp.Media, "\r\n\x1b") || resp.Size > int64(len(url)) {
			t.Errorf("%q: %q, %d bytes", url, resp.Media, resp.Size)
		}
	})
}
