package prospero_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
	"github.com/anyurl/fetch/uri"
)

// oneRequest matches the only permitted datagram: the client's name and one
// request. No token contains a line end.
var oneRequest = regexp.MustCompile(`^VERSION 5 fetch\nAUTHENTICATE '' UNAUTHENTICATED anonymous\n` +
	`(?:DIRECTORY ASCII [^\r\n\x00]+\nLIST ATTRIBUTES COMPONENTS(?: [^\r\n\x00]+)?|GET-OBJECT-INFO (?:#ALL|CONTENTS) ASCII [^\r\n\x00]+ [0-9]+)\n$`)

// FuzzNoExtraCommand: for any URL and words, each datagram contains one request
// with the expected number of tokens.
func FuzzNoExtraCommand(f *testing.F) {
	f.Add("AFTP/pub;OBJECT-VERSION=2", "words")
	f.Add("x%0AUPDATE%20x", "a\nCREATE-LINK")
	f.Add("x%003;a=b", "'")
	f.Add("it's%20a%20'file'/%FF", "''' \t")
	f.Add("ARCHIE/MATCH(1,0,=)/x", "")
	f.Add("a?b;c=%00", "x)y")
	f.Fuzz(func(t *testing.T, path, words string) {
		u, err := uri.Parse("prospero://198.41.0.4/" + path)
		if err != nil {
			return
		}
		urls := []uri.URI{u}
		if q, err := schemes()[0].Search(u, fetch.Search{Words: words}); err == nil {
			urls = append(urls, q)
		}
		n := faultnet.NewNetwork(t)
		s := n.ServePackets("198.41.0.4:1525", says(map[string]string{"CONTENTS": "FAILURE NOT-FOUND\n", "#ALL": "FAILURE NOT-FOUND\n", "COMPONENTS\n": "FAILURE NOT-A-DIRECTORY\n", "": "NONE-FOUND\n"}))
		c := client(t, func(o *fetch.Options) { o.Dial = n.Dial })
		for _, u := range urls {
			schemetest.Drain(c.Do(t.Context(), &fetch.Request{URL: u}))
			schemetest.Drain(c.Do(t.Context(), &fetch.Request{URL: u, Op: fetch.Stat}))
		}
		s.Close()
		for _, text := range texts(t, s) {
			if !oneRequest.MatchString(text) {
				t.Fatalf("%s and %q sent %q", path, words, text)
			}
			r := message.NewReader(strings.NewReader(text))
			for l, err := r.Line(); err == nil; l, err = r.Line() {
				if n := len(l.Tokens); n > 5 || l.Token(0) == "DIRECTORY" && n > 4 || l.Token(0) == "LIST" && n > 4 {
					t.Fatalf("%s and %q sent a line of %d tokens: %q", path, words, n, l.Tokens)
				}
			}
		}
	})
}

// FuzzProsperoReply: any reply results in an error, in entries with absolute
// URLs, or in a body.
func FuzzProsperoReply(f *testing.F) {
	for _, text := range []string{
		"VERSION 5 P53.17May94b\nLINK  L FILE it'''s a file.txt' INTERNET-D LOCALHOST(15250) ASCII AFTP'/pub/it''s a file.txt' 0\nATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 2' bytes'\n",
		"LINK U DIRECTORY d INTERNET-D H ASCII x/../y 3\nFILTER x\n", "FAILURE NOT-A-DIRECTORY\n", "FORWARDED INTERNET-D H(191) ASCII x 2\n",
		"ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE AFTP INTERNET-D LOCALHOST ASCII '/pub/a' BINARY\nATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS '' '' '' ''\n",
		data + "GIF89a\x01',\x00\n'\n", "LINK L EXTERNAL(AFTP,DIRECTORY) d INTERNET-D F ASCII /pub/d 0\nLINK-INFO CACHED SIZE ASCII 5' bytes'\n", "ERROR x", "'",
	} {
		f.Add(text, "FAILURE NOT-A-DIRECTORY\n")
		f.Add(data+"x\n", text)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if len(first)+len(second) > 40000 { // one window
			return
		}
		n := faultnet.NewNetwork(t)
		s := n.ServePackets("198.41.0.4:1525", says(map[string]string{"LIST": second, "GET-OBJECT-INFO": first}))
		c := client(t, func(o *fetch.Options) { o.Dial = n.Dial })
		for _, op := range []fetch.Op{fetch.Get, fetch.Stat} {
			resp, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse("prospero://198.41.0.4/d/x"), Op: op, NoFollow: true})
			if err == nil && resp.Kind == fetch.Menu && op == fetch.Get {
				for e, err := range resp.Entries() {
					if err == nil && e.Kind != fetch.Info && e.URL.Scheme() == "" {
						t.Fatalf("entry without URL: %+v", e)
					}
				}
			} else if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			if err != nil && fetch.FaultOf(err) == fetch.Internal {
				t.Fatalf("nobody classed %v", err)
			}
		}
		s.Close()
	})
}

// FuzzProsperoURL: a name that is parsed and written again is unchanged, also
// after normalization.
func FuzzProsperoURL(f *testing.F) {
	for _, path := range []string{"/srv/x", "a%2F..%2Fb/.", "a;OBJECT-VERSION=02", "a%001", "a?b", "%3B%25", "//", ""} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := uri.Parse("prospero://198.41.0.4/" + path)
		if err != nil {
			return
		}
		plan, err := schemes()[0].Plan(&fetch.Request{URL: u})
		if err != nil {
			return
		}
		name := strings.TrimPrefix(plan[2].Arg, "ASCII ")
		client, s := serve(t, says(map[string]string{"LIST": "LINK L DIRECTORY d INTERNET-D 198.41.0.4 ASCII " + name + "\n"}))
		resp, err := client.Do(t.Context(), request(t, host+"d"))
		if err != nil {
			if len(name) < 200<<10 {
				t.Fatal(err)
			}
			return
		}
		for e, err := range resp.Entries() {
			if strings.Contains(name, "ARCHIE/HOST/") || len(name) > 20<<10 { // may be too long for a URL
				break
			}
			if err != nil || e.URL.IsZero() {
				t.Fatalf("%q became %+v, %v", name, e, err)
			}
			again, err := schemes()[0].Plan(&fetch.Request{URL: e.URL.Normalize(uri.ByScheme)})
			if err != nil || again[2].Arg != plan[2].Arg {
				t.Fatalf("%q became %s, %v", plan[2].Arg, e.URL, err)
			}
		}
		s.Close()
	})
}
