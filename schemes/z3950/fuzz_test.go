package z3950_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/uri"
)

// FuzzRecord: a record of any content in any syntax is listed and shown without
// control characters in its title, and without a text that is much larger than
// the record.
func FuzzRecord(f *testing.F) {
	f.Add("00049nam  2200037   4500245001100000\x1e10\x1faWhales\x1e\x1d", byte(0))
	f.Add("<record><datafield tag='245'><subfield code='a'>Whales</subfield></datafield></record>", byte(1))
	f.Add("Whales\nare large\n", byte(2))
	f.Add("\x30\x0c\x30\x0a\x81\x01\x02\xa2\x00\xa4\x03\x1b\x01x", byte(3))
	syntaxes := []string{apdu.USMARC, apdu.XML, apdu.SUTRS, apdu.GRS1, apdu.UNIMARC, apdu.HTML}
	f.Fuzz(func(t *testing.T, data string, kind byte) {
		reply := records(octets(syntaxes[int(kind)%len(syntaxes)], data))
		client, _ := serve(t, answers(found(1), reply))
		all, err := schemetest.List(t, client, session+"Default?x")
		if err != nil {
			return
		}
		if e := all[0]; strings.ContainsAny(e.Name, "\n\t\r") || !utf8.ValidString(e.Name) || e.Size > 16<<20+int64(4*len(data)) {
			t.Errorf("%q became %+v", data, e)
		}
	})
}

// FuzzLocator: a URL is rejected, or every entry of its listing leads to a
// valid URL with the same plan except for the record.
func FuzzLocator(f *testing.F) {
	for _, s := range []string{"z39.50s://h/a+b?x y;n=3", "z39.50r://h/db?a%20b;esn=F;rs=xml+usmarc", "z39.50s://h/db;rs=xml", "z39.50s://h/?title:%22a b%22"} {
		f.Add(s)
	}
	session := schemes()[1]
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.Parse(s)
		if err != nil || !strings.HasPrefix(u.Scheme(), "z39.50") {
			return
		}
		steps, err := session.Plan(&fetch.Request{URL: u})
		if err == nil && (len(steps) > 3 || steps[0].Verb != "init") {
			t.Errorf("%s: %v", s, steps)
		}
		found, err := session.Search(u, fetch.Search{Words: `whale "a;b" title:x+y&z`})
		if err != nil || u.Scheme() != "z39.50s" {
			return
		}
		steps, err = session.Plan(&fetch.Request{URL: found})
		if err != nil || !strings.Contains(steps[1].Arg, `"whale" "a;b" @attr 1=4 "x+y&z"`) {
			t.Errorf("%s: %v, %v", found, steps, err)
		}
	})
}
