package wais_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/uri"
)

const sourceMedia = "application/x-wais-source"

func readSource(text string) string {
	var all []string
	for e, err := range schemes()[0].Menu(uri.MustParse("wais://[::1]:2210/INFO/WSRC/3=x;"), sourceMedia, strings.NewReader(text)) {
		if err != nil {
			return fetch.FaultOf(err).String() + ": " + err.Error()
		}
		all = append(all, schemetest.DescribeEntry(e, host))
	}
	return strings.Join(all, "\n")
}

func TestSource(t *testing.T) {
	recorded := waistest.Recorded(t, "05-help.hex")[3].Answer
	recorded = recorded[bytes.Index(recorded, []byte("\n\n(:source")):]
	for _, c := range []struct{ name, text, want string }{
		{"freeWAIS", string(recorded), `index "notes" wais://vm/notes cost="0.00" cost_unit=":free" description="Server created with freeWAIS-sf 2.2.8 string on Nov 20 12:55:07 2026 by root@vm\nThe files of type text used in the index were:\n   /srv/wais/data/alpha.txt\n   /srv/wais/data/beta.txt\n   /srv/wais/data/big.txt\n   /srv/wais/data/gamma.txt\n" ip_address="127.0.0.1" keyword_list="and big the" maintainer="root@vm"`},
		{"port", `(:source :version 3 :ip-name "h.example" :tcp-port 8210 :database-name "a b/c")`, `index "a b/c" wais://h.example:8210/a%20b%2Fc `},
		{"usual port", `(:source :version 3 :ip-name "h" :tcp-port 210 :database-name "d")`, `index "d" wais://h/d `},
		{"address alone", `(:source :ip-address "192.0.2.7" :database-name "d")`, `index "d" wais://192.0.2.7/d ip_address="192.0.2.7"`},
		{"neither: where it comes from", `(:source :database-name "d")`, `index "d" wais://[::1]:2210/d `},
		{"escapes", `(:source :database-name "d" :description "a \"b\" \\ c")`, `index "d" wais://[::1]:2210/d description="a \"b\" \\ c"`},
		{"Latin-1", "(:source :database-name \"d\" :maintainer \"Andr\xe9\")", `index "d" wais://[::1]:2210/d maintainer="André"`},
		{"database whose name is Latin-1", "(:source :database-name \"caf\xe9\")", `index "café" wais://[::1]:2210/caf%E9 `},
		{"unknown keys, and bytes", `(:SOURCE :database-name "d" :update-time (1 2 (3)) :secret (:any :size 2 :bytes #( 1 2 )) :x y)`, `index "d" wais://[::1]:2210/d `},
		{"no space between", `(:source :database-name "d":maintainer"m")`, `index "d" wais://[::1]:2210/d maintainer="m"`},
		{"names no database", `(:source :version 3)`, "protocol: the description names no database"},
		{"host that is none", `(:source :database-name "d" :ip-name "a/b")`, `protocol: invalid address in the description of the database: path at offset 8: does not fit there`},
		{"text", "a text", "protocol: the text is not the description of a database"},
		{"empty", "", "protocol: the text is not the description of a database"},
		{"cut in a list", `(:source :keyword-list ( a`, "protocol: the description of the database is truncated"},
		{"cut in a string", `(:source :database-name "a\`, "protocol: the description of the database is truncated inside a string"},
		{"cut behind a value", `(:source :version 3`, "protocol: syntax error in the description of the database after field 1"},
		{"no keyword", `(:source 3 4)`, "protocol: syntax error in the description of the database after field 0"},
		{"too deep", `(:source :x ` + strings.Repeat("(", 50), "protocol: the description of the database is nested too deeply"},
		{"too deep in another way", `(:source :x ` + strings.Repeat("# ", 50), "protocol: the description of the database is nested too deeply"},
		{"too many fields", `(:source ` + strings.Repeat(":a b ", 101), "protocol: syntax error in the description of the database after field 100"},
		{"too long", `(:source :description "` + strings.Repeat("x", 256<<10) + `" )`, "protocol: the description of the database has more than 262144 bytes"},
	} {
		got := readSource(c.text)
		if strings.HasPrefix(c.want, "protocol: invalid address in the description of the database") {
			c.want, got = c.want[:50], got[:min(50, len(got))]
		}
		if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestDirectory: a search in a directory of servers leads to a database through
// its description.
func TestDirectory(t *testing.T) {
	const text = `(:source :version 3 :ip-name "wais.example.org" :tcp-port 210 :database-name "poetry" :description "Poems")`
	server := &waistest.Server{Databases: map[string]*waistest.Database{"directory-of-servers": {
		Documents: []*waistest.Document{waistest.NewDocument("/src/poetry.src", "poetry.src", "WSRC", text)}}}}
	c, _ := serve(t, faultnet.Script{server.Step()})
	resp, err := c.Do(t.Context(), schemetest.NewRequest(t, host+"directory-of-servers?poems"))
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range resp.Entries() {
		if err != nil || e.Kind != fetch.Menu {
			t.Fatalf("found %+v, %v", e, err)
		}
		described, err := c.Do(t.Context(), &fetch.Request{URL: e.URL})
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range described.Entries() {
			if err != nil || e.Kind != fetch.Index || e.URL.String() != "wais://wais.example.org/poetry" || e.Extra["description"] != "Poems" {
				t.Errorf("leads to %+v, %v", e, err)
			}
		}
	}
}
