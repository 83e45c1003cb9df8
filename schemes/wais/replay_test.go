package wais_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// The ids of documents on the recorded server.
const (
	alpha = "TEXT/128/" + alphaID
	beta  = "TEXT/64/1=vm%3A2210;2=/srv/wais/idx/notes;3=0%2064%20/srv/wais/data/beta.txt;4=vm%3A2210;5=/srv/wais/idx/notes;6=0%2064%20/srv/wais/data/beta.txt;7=%00;"
	gamma = "TEXT/83/1=vm%3A2210;2=/srv/wais/idx/notes;3=0%2083%20/srv/wais/data/gamma.txt;4=vm%3A2210;5=/srv/wais/idx/notes;6=0%2083%20/srv/wais/data/gamma.txt;7=%00;"
	big   = "TEXT/280000/" + bigID

	alphaID   = "1=vm%3A2210;2=/srv/wais/idx/notes;3=0%20128%20/srv/wais/data/alpha.txt;4=vm%3A2210;5=/srv/wais/idx/notes;6=0%20128%20/srv/wais/data/alpha.txt;7=%00;"
	bigID     = "1=vm%3A2210;2=/srv/wais/idx/notes;3=0%20280000%20/srv/wais/data/big.txt;4=vm%3A2210;5=/srv/wais/idx/notes;6=0%20280000%20/srv/wais/data/big.txt;7=%00;"
	narwhalID = "1=vm%3A2210;2=/srv/wais/idx/multi;3=0%2024%20/srv/wais/data/multi/narwhal.TEXT;4=vm%3A2210;5=/srv/wais/idx/multi;6=0%2024%20/srv/wais/data/multi/narwhal.TEXT;7=%00;"
	whaleID   = "1=vm%3A2210;2=/srv/wais/idx/pics;3=0%2043%20/srv/wais/data/whale.gif;4=vm%3A2210;5=/srv/wais/idx/pics;6=0%2043%20/srv/wais/data/whale.gif;7=%00;"
	notesSrc  = "WSRC/538/2=notes;3=0%200%20/srv/wais/idx/notes.src;7=%00;"
	notesCat  = "TEXT/443/2=notes;3=0%200%20/srv/wais/idx/notes.cat;7=%00;"
)

// infoSource is the name of a description in INFO.
func infoSource(size, name string) string {
	id := "=0%20" + size + "%20/srv/wais/idx/" + name + ".src;"
	return "INFO/WSRC/" + size + "/1=vm%3A2210;2=/srv/wais/idx/INFO;3" + id + "4=vm%3A2210;5=/srv/wais/idx/INFO;6" + id + "7=%00;"
}

const alphaText = "Alpha note on whales\nThe humpback whale sings long songs in the warm ocean.\nWhale song carries for many kilometres under water.\n"

const gif = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// hit is an entry in the form of outcome.
func hit(name, database, path, size, rest string) string {
	return "document \"" + name + "   /srv/wais/data/\" " + database + "/" + path + " text/plain " + size + " " + rest + " source=\"/srv/wais/idx/" + database + "\" types=\"TEXT\""
}

// A replay is a URL, the titles of the recorded requests that it must send, and
// the expected result.
type replay struct {
	file, path string
	titles     []string
	want       string
}

var replays = []replay{
	{"02-init-search-fetch.hex", "notes?whale", []string{`Search type 3 "whale" in notes`},
		hit("alpha.txt", "notes", alpha, "128", `lines="3" score="238"`) + "\n" + hit("beta.txt", "notes", beta, "64", `lines="2" score="230"`)},
	{"02-init-search-fetch.hex", "notes/" + alpha, []string{"fetch doc 1 bytes 0..128 TEXT"}, `document text/plain WAIS 128 bytes: ` + quote(alphaText)},
	{"03-chunking.hex", "notes?leviathan", []string{`Search "leviathan"`}, hit("big.txt", "notes", big, "280000", `lines="4000" score="50"`)},
	{"04-nohits.hex", "notes?zzzznothing", []string{"Search, no hit"},
		`info "Search produced no result. Here's the Catalog for database: notes" lines="21" score="0" source="notes" types="TEXT"`},
	{"05-help.hex", "notes?", []string{"Search empty"},
		`menu "Information on database: notes" notes/` + notesSrc + ` application/x-wais-source 538 lines="25" score="1000" source="notes" types="WSRC"` + "\n" +
			`document "Catalog for database: notes" notes/` + notesCat + ` text/plain 443 lines="21" score="1000" source="notes" types="TEXT"`},
	{"05-help.hex", "notes?%3F", []string{`Search "?"`}, "server-perm: get notes?%3F: server replied: query syntax error: ? (S1)"},
	{"05-help.hex", "notes/" + notesSrc, []string{"fetch WSRC"}, `menu application/x-wais-source WAIS 538 bytes: "\n\n(:source`},
	{"06-nodb.hex", "nosuchdb?whale", []string{"Search in missing database"},
		"not-found: get nosuchdb?whale: server replied: The following database is not available: /srv/wais/idx/nosuchdb (S1)"},
	{"07-INFO.hex", "?whale", []string{"db INFO"},
		`menu "pics.src" ` + infoSource("411", "pics") + ` application/x-wais-source 411 lines="19" score="187" source="/srv/wais/idx/INFO" types="WSRC"`},
	{"08-gif.hex", "pics?whale", []string{"Search in pics"},
		`document "whale.gif" pics/GIF/43/` + whaleID + ` image/gif 43 lines="1" score="490" source="/srv/wais/idx/pics" types="GIF"`},
	{"08-gif.hex", "pics/GIF/43/" + whaleID, []string{"fetch GIF 43 bytes"}, `document image/gif WAIS 43 bytes: ` + quote(gif)},
	{"09-multitype.hex", "multi?narwhal", []string{"Search in multi"},
		`document "narwhal.TEXT   /srv/wais/data/multi/" multi/TEXT/24/` + narwhalID + ` text/plain 24 lines="1" score="298" source="/srv/wais/idx/multi" types="TEXT GIF"` + "\n" +
			`document "narwhal.TEXT   /srv/wais/data/multi/" multi/GIF/` + narwhalID + ` image/gif lines="1" score="298" source="/srv/wais/idx/multi" types="TEXT GIF"`},
	{"09-multitype.hex", "multi/TEXT/24/" + narwhalID, []string{"fetch as TEXT"}, `document text/plain WAIS 24 bytes: "A narwhal drawn in text\n"`},
	{"10-linechunk.hex", "notes/" + alpha + "#line=1,2", []string{"fetch line 1 only"}, `document text/plain WAIS: "The humpback whale sings long songs in the warm ocean.\n"`},
	{"11-feedback.hex", "notes?book&like=" + alpha + "&lines=1,2", []string{"feedback with line chunk"},
		hit("alpha.txt", "notes", alpha, "128", `lines="3" score="2221"`) + "\n" + hit("gamma.txt", "notes", gamma, "83", `lines="2" score="833"`) + "\n" +
			hit("beta.txt", "notes", beta, "64", `lines="2" score="286"`) + "\n" + hit("big.txt", "notes", big, "280000", `lines="4000" score="7"`)},
	{"12-baddocid.hex", "notes/TEXT/100/1=foo;2=notes;3=bar;7=%00;", []string{"garbage local id"},
		"not-found: get notes/TEXT/100/1=foo;2=notes;3=bar;7=%00;: server replied: Missing DocID in request (SF)"},
	{"14-noinit.hex", "notes?gopher", []string{"Search"}, hit("beta.txt", "notes", beta, "64", `lines="2" score="405"`)},
	{"17-nodb-fetch.hex", "nodb/TEXT/10/" + alphaID, []string{"fetch"},
		"not-found: get nodb/TEXT/10/" + alphaID + ": server replied: The following database is not available: /srv/wais/idx/nodb (S1)"}, // over a second connection
}

func quote(s string) string { return strconv.Quote(s) }

// TestRecorded compares the sent bytes with recorded ones, except for the
// client name in Init, and checks the results of the recorded responses.
func TestRecorded(t *testing.T) {
	for _, r := range replays {
		c, s := serve(t, faultnet.Script{waistest.FreeWAIS(t).Step()})
		got := outcome(c.Do(t.Context(), schemetest.NewRequest(t, host+r.path)))
		if got != r.want && !(strings.HasSuffix(r.want, "(:source") && strings.HasPrefix(got, r.want)) {
			t.Errorf("%s: %s:\ngot  %s\nwant %s", r.file, r.path, got, r.want)
		}
		recorded := exchanges(t, r.file)
		all, raw := messages(t, c, s, 0)
		if init, ok := all[0].(*z3950.Init); !ok || !bytes.Equal(init.Append(nil), z3950.NewInit("fetch", 100000).Append(nil)) {
			t.Errorf("%s: %s: begins with %+v", r.file, r.path, all[0])
		}
		if len(raw) != 1+len(r.titles) {
			t.Errorf("%s: %s: sent %d messages", r.file, r.path, len(raw))
			continue
		}
		for i, title := range r.titles {
			if !bytes.Equal(raw[1+i], recorded[title].Request) {
				t.Errorf("%s: %s: sent\n%q, recorded is\n%q", r.file, r.path, raw[1+i], recorded[title].Request)
			}
		}
	}
}

// TestRecordedClient compares our requests with those of freeWAIS's client,
// field by field, except for its name and address.
func TestRecordedClient(t *testing.T) {
	c, s := serve(t, faultnet.Script{waistest.FreeWAIS(t).Step()})
	for _, path := range []string{"notes?whale", "notes/" + alpha} {
		if got := outcome(c.Do(t.Context(), schemetest.NewRequest(t, host+path))); strings.Contains(got, "get ") {
			t.Fatal(got)
		}
	}
	if n := len(s.Conns()); n != 1 {
		t.Fatalf("%d connections, want the first one kept", n)
	}
	_, ours := messages(t, c, s, 0)
	theirs := waistest.Recorded(t, "01-waissearch.hex")
	p, err := z3950.Decode(theirs[0].Request[z3950.HeaderSize:])
	if err != nil {
		t.Fatal(err)
	}
	init := p.(*z3950.Init)
	init.ID, init.Implementation, init.Implementor, init.Release = []byte("fetch"), nil, nil, nil
	for i, want := range [][]byte{z3950.AppendMessage(nil, z3950.Header{}, init), theirs[1].Request, theirs[2].Request} {
		if !bytes.Equal(ours[i], want) {
			t.Errorf("message %d:\nsent %q\nthey %q", i, ours[i], want)
		}
	}
}

// TestRecordedParts retrieves recorded chunks.
func TestRecordedParts(t *testing.T) {
	recorded := exchanges(t, "03-chunking.hex")
	for _, r := range []struct {
		title string
		want  fetch.Range
		path  string
		text  string
	}{
		{"bytes 0..600 of 280000", fetch.Range{End: 600}, "notes/" + big, "Line 00001 of the big document about leviathan and other large whales\n"},
		{"last 200 bytes", fetch.Range{First: -200}, "notes/" + big, " of the big document about leviathan and other large whales\nLine 03999"},
		{"range running past the end: text plus diagnostic", fetch.Range{First: 279900, End: 280100}, "notes/TEXT/" + bigID, "iathan and other large whales\n"},
		{"range wholly past the end: diagnostic only", fetch.Range{First: 280000, End: 280100}, "notes/TEXT/" + bigID, ""},
	} {
		c, s := serve(t, faultnet.Script{waistest.FreeWAIS(t).Step()})
		req := schemetest.NewRequest(t, host+r.path)
		req.Range = r.want
		resp, err := c.Do(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", r.title, err)
			continue
		}
		body := new(bytes.Buffer)
		if _, err := body.ReadFrom(resp.Body); err != nil || !strings.HasPrefix(body.String(), r.text) || (r.text == "") != (body.Len() == 0) {
			t.Errorf("%s: got %q, %v", r.title, body, err)
		}
		resp.Body.Close()
		_, raw := messages(t, c, s, 0)
		if len(raw) != 2 || !bytes.Equal(raw[1], recorded[r.title].Request) {
			t.Errorf("%s: sent %q, recorded is %q", r.title, raw[1:], recorded[r.title].Request)
		}
	}
}

// TestRecordedDescription: Stat of a database sends a search without words and
// retrieves the document that it finds.
func TestRecordedDescription(t *testing.T) {
	recorded := exchanges(t, "05-help.hex")
	c, s := serve(t, faultnet.Script{waistest.FreeWAIS(t).Step()})
	req := schemetest.NewRequest(t, host+"notes")
	req.Op = fetch.Stat
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	_, raw := messages(t, c, s, 0)
	if len(raw) != 3 || !bytes.Equal(raw[1], recorded["Search empty"].Request) || !bytes.Equal(raw[2], recorded["fetch WSRC"].Request) {
		t.Errorf("sent %q", raw)
	}
	if resp.Kind != fetch.Index || !bytes.HasPrefix(resp.Head, []byte("\n\n(:source ")) || len(resp.Head) != 538 {
		t.Errorf("%v, head %q", resp.Kind, resp.Head)
	}
	for name, want := range map[string]string{"database-name": "notes", "tcp-port": "210", "maintainer": "root@vm", "keyword-list": "and big the", "cost-unit": ":free"} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
