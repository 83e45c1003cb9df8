package uri

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/internal/test/cputime"
)

// extractAll returns the URIs that Extract finds in text, each with its
// alternative reading.
func extractAll(text string) (list []string) {
	for f := range Extract(text) {
		s := f.URI.Unredacted()
		if !f.Alternative.IsZero() {
			s += " or " + f.Alternative.Unredacted()
		}
		list = append(list, s)
	}
	return list
}

func TestExtract(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no URI", "No: 12:30, C:\\x, std::vector, e.g.:x and http: alone", ""},
		{"example of the 1993 draft", "Yes, Jim, I found it under <ftp://info.cern.ch/pub> but\nyou can probably pick it up from <ftp://ds.internic.net/rfc>.",
			"ftp://info.cern.ch/pub ftp://ds.internic.net/rfc"},
		{"example of the 1997 draft without line breaks", `Yes, Jim, I found it under "http://www.w3.org/pub/WWW/", but you can probably pick it up from <ftp://ds.internic. net/rfc/>. Note the warning in <http://ds.internic.net/ instructions/overview.html#WARNING>.`,
			"http://www.w3.org/pub/WWW/ ftp://ds.internic.net/rfc/ http://ds.internic.net/instructions/overview.html#WARNING"},
		{"example of RFC 1738 in Chinese", "是的,Jim,我发现它在<URL:ftp://info.cern.ch/pub/www/doc;type=d>上,但是你可\n能能够从<URL:ftp://ds.internic.net/rfc>那儿获得它。请注意\n<URL:http://ds.internic.net/instructions/overview.html#WARNING>上的警告。",
			"ftp://info.cern.ch/pub/www/doc;type=d ftp://ds.internic.net/rfc http://ds.internic.net/instructions/overview.html#WARNING"},
		{"bare in Chinese", "在URL:http://www.acl.lanl.gov/URI/archive/uri-archive.index.html。", "http://www.acl.lanl.gov/URI/archive/uri-archive.index.html"},
		{"reference of RFC 1738 on two lines", "       <URL:ftp://ds.internic.net/internet-drafts\n       /draft-ietf-uri-irl-fun-req-02.txt>", "ftp://ds.internic.net/internet-drafts/draft-ietf-uri-irl-fun-req-02.txt"},
		{"reference indented by no-break spaces", "\u00a0 <URL:ftp://prospero.isi.edu/pub/prospero/doc\n\u00a0 \u00a0 /prospero-protocol.PS.Z>\n\n", "ftp://prospero.isi.edu/pub/prospero/doc/prospero-protocol.PS.Z"},
		{"line break between bracket and label", "没有密码,< \nURL:ftp://host.com/>没有", "ftp://host.com/"},
		{"bracket closed too early", "<gopher://gopher.micro.umn.edu/00>About Gopher/About Gopher>", "gopher://gopher.micro.umn.edu/00"},

		{"label in lower case with space", "<url: \thttp://a/>", "http://a/"},
		{"label of RFC 1630", "<URI:http://a/>", "http://a/"},
		{"any scheme behind the label", "<URL:x-exec:date> <x-exec:date>", "x-exec:date"},
		{"a label with nothing", "<URL:> <URL:a b> <URL:/a>", ""},
		{"hyphen at the end of a line", "<http://a/b-\n  c-d>", "http://a/b-c-d or http://a/bc-d"},
		{"hyphens at the ends of two lines, one with CRLF", "<http://a/b-\r\nc-\n\td>", "http://a/b-c-d or http://a/bcd"},
		{"hyphen before a space", "<http://a/b- c>", "http://a/b-c"},
		{"tags are no wrappers", "<x>intag.com</x> <dc:title> <a:b c='d'>", ""},
		{"HTML attribute", `<a href="http://a/b">http://c/</a>`, "http://a/b http://c/"},
		{"unclosed bracket", "<http://a/b and more", "http://a/b"},
		{"two URIs in one bracket", "<http://a/ and http://b/>", "http://a/ http://b/"},
		{"blank line in a bracket", "<http://a/\n\nb>", "http://a/"},
		{"invalid URI in a bracket", "<http://a/|b>", "http://a/"},
		{"fragment in the bracket", "<http://a/#b\nc>", "http://a/#bc"},
		{"empty wrappers", `<> "" <:> ":" <URL:>`, ""},

		{"quoted URI on two lines", "\"http://a/b\n   c\"", "http://a/bc"},
		{"quoted URI with words after it", `"http://a/b is good"`, "http://a/b"},
		{"URI between two quotations", "\"x\" http://a/\nb \"y\"", "http://a/"},
		{"single quotes", "'http://a/b', 'http://a/c'd", "http://a/b http://a/c"},
		{"apostrophe in the path", "http://a/o'neill", "http://a/o'neill"},
		{"emphasis", "*http://a/* _http://b/c_. ~http://d~", "http://a/ http://b/c http://d"},

		{"end of a sentence", "http://a/b. http://a/c! http://a/d?! http://a/e... http://a/f;", "http://a/b http://a/c http://a/d http://a/e http://a/f"},
		{"end of a sentence after a host", "http://a.b. http://a.b, http://a.b: http://a.b... http://a.b./", "http://a.b http://a.b http://a.b http://a.b http://a.b./"},
		{"parentheses", "(http://a/b) (see http://a/c_(d)) (http://a/e).f http://a/g(h", "http://a/b http://a/c_(d) http://a/e http://a/g(h"},
		{"markdown", "[t](http://a/b), [http://a/c](http://a/d)", "http://a/b http://a/c http://a/d"},
		{"invalid percent-encoding", "http://a/100% http://a/%41%", "http://a/100 http://a/%41"},
		{"no space after the previous sentence", "end.http://a/ end...ftp://b/ 1.http://c/", "http://a/ ftp://b/ http://c/"},
		{"schemes with punctuation", "git+ssh://a/ z39.50r://a/", "git+ssh://a/ z39.50r://a/"},
		{"drive letter", "c://temp", ""},
		{"schemes in capitals", "HTTP://A/ MAILTO:a@b", "HTTP://A/ MAILTO:a@b"},

		{"userinfo", "ftp://u:p@h/ http://www.example.com&story=breaking_news@10.0.0.1/top_story.htm", "ftp://u:p@h/ http://www.example.com&story=breaking_news@10.0.0.1/top_story.htm"},
		{"ports", "http://h:80/ http://h:80. http://h:/ http://h:80", "http://h:80/ http://h:80 http://h:/ http://h:80"},
		{"invalid ports", "http://h:8x/ http://host:port/ http://h:$P/ http://h:80_", ""},
		{"invalid hosts", "http:///a http://*.a/ http://$h/ http://?q http:// http://u@ http://[::x]/ http://[::1 http://--/", ""},
		{"IP literals", "http://[::1]:80/a, [http://[::1]] http://192.0.2.1", "http://[::1]:80/a http://[::1] http://192.0.2.1"},
		{"list of URIs without spaces", "http://a.b,http://c.d;http://e.f", "http://a.b http://c.d http://e.f"},
		{"URI in a query", "http://a/?u=http://b/&c", "http://a/?u=http://b/&c"},

		{"mail", "mailto:a@b.c, mailto:a@b?subject=x. mailto: mailto:me <mailto:a@b>", "mailto:a@b.c mailto:a@b?subject=x mailto:a@b"},
		{"news", "news:comp.lang.c. news:* news:1@h good news:nothing news://h/comp.x", "news:comp.lang.c news:* news:1@h news://h/comp.x"},
		{"mid, cid, urn, file", "mid:a@b/c@d cid:a@b urn:isbn:0. urn:x file:///etc/motd file:/a file: file:a file://h/a file://",
			"mid:a@b/c@d cid:a@b urn:isbn:0 file:///etc/motd file:/a file://h/a"},
		{"file of the root directory", "Open file:///, (file:///) or file:///. profile:///",
			"file:/// file:/// file:///"},

		{"non-ASCII letters", "http://müller.de/ü?ü=ü#ü.", "http://m%C3%BCller.de/%C3%BC?%C3%BC=%C3%BC#%C3%BC"},
		{"Chinese after a path, a host and a query", "看http://a.com/b看 http://a.com看 http://a.com/?b看 http://a.com/b,看", "http://a.com/b http://a.com http://a.com/?b http://a.com/b"},
		{"Chinese in a path", "https://a/wiki/日本_x。", "https://a/wiki/%E6%97%A5%E6%9C%AC_x"},
		{"Chinese in a host", "http://北京a.中國/ http://a北京.中國看", "http://%E5%8C%97%E4%BA%ACa.%E4%B8%AD%E5%9C%8B/ http://a%E5%8C%97%E4%BA%AC.%E4%B8%AD%E5%9C%8B%E7%9C%8B"},
		{"Korean particle", "http://a.com/b에서", "http://a.com/b"},
		{"full-width punctuation after a URI", "http://a.com/b\uff09。http://a.com\uff1a80", "http://a.com/b http://a.com"},
		{"bidirectional and invisible characters", "http://a/b\u202ec <http://a/\u202eb> http://a/\u200bb http://a/\x00b http://a/\xffb", "http://a/b http://a/ http://a/ http://a/ http://a/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(extractAll(c.text), " "); got != c.want {
				t.Errorf("in %q:\ngot  %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

func TestExtractOffsets(t *testing.T) {
	const text = "a <URL: http://h/b\n c > (http://h)."
	var got []string
	for f := range Extract(text) {
		got = append(got, fmt.Sprintf("%q", text[f.Start:f.End]))
	}
	if want := []string{`"http://h/b\n c"`, `"http://h"`}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestExtractLongURI verifies that a URI longer than the limit and its parts
// are ignored, and that the next URI is found.
func TestExtractLongURI(t *testing.T) {
	for _, c := range []struct {
		length int
		want   bool
	}{{maxMatch - 1, true}, {maxMatch, true}, {maxMatch + 1, false}, {3 * maxMatch, false}} {
		long := "http://h/"
		long += strings.Repeat("/", c.length-len(long))
		got := extractAll(long + " http://b")
		want := []string{"http://b"}
		if c.want {
			want = []string{long, "http://b"}
		}
		if c.length == maxMatch { // the end of the URI is beyond the limit
			want = want[1:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d bytes: %d found, want %d", c.length, len(got), len(want))
		}
	}
	for _, text := range []string{strings.Repeat("x", maxScheme+1) + "://h", strings.Repeat("x", 5000) + "://h"} {
		if got := extractAll(text); got != nil {
			t.Errorf("accepted a scheme of %d bytes", len(got[0]))
		}
	}
}

// TestExtractStop stops the iteration after the first URI.
func TestExtractStop(t *testing.T) {
	const text = "http://a http://b"
	for f := range Extract(text) {
		if f.Start > 0 {
			t.Error("the iterator continues after a break")
		}
		break
	}
	for range ExtractFrom(strings.NewReader(text)) {
		break
	}
}

// hostile are pieces that, repeated, make a reader that looks twice quadratic.
var hostile = []string{
	":", "a:", "<a:", `"a:`, "a://", "<http://a", `"http://a`, "<URL:", "<URL:a:", "a://b:c@", "http://u:p", "mailto:",
	"mailto:a@", "news:", "urn:", "urn:a:", "file:/", "file:/,", "http://[", "http://[::", "http://a/(", "http://a/)", "http://.",
	"http://a.", "http://é", "http://看", "http://a/看", "'http://a", "*http://a*", "http://a:8x", "mid:@", "<http://a\n", "<http://a-\n",
	"a.http:", "a://%", "a://b:", "<a:b ", "-", "x.", "http://a?", "http://a#", "<a://b\nc://d", " ", "URL:",
}

// TestExtractLinear verifies that a text of eight times the length takes about
// eight times as long.
func TestExtractLinear(t *testing.T) {
	measure := func(text string) time.Duration {
		best := time.Hour
		for range 3 {
			best = min(best, cputime.Of(func() {
				for range Extract(text) {
				}
			}))
		}
		return best
	}
	const size = 2 << 10
	for _, piece := range hostile {
		for _, end := range []string{"", ">", `"`, "'", "@"} {
			text := strings.Repeat(piece, size/len(piece))
			for try := 1; ; try++ {
				short, long := measure(text+end), measure(strings.Repeat(text, 8)+end)
				if long <= 24*short || long < 20*time.Millisecond {
					break
				}
				if try == 5 { // five attempts exclude the load of the machine as the cause
					t.Errorf("%q: %v for %d bytes, %v for eight times that", piece, short, len(text), long)
					break
				}
			}
		}
	}
}

func TestExtractFrom(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 3*window; i++ {
		fmt.Fprintf(&b, "%s <URL:http://h/%d-\n%s> bare://h/%d.\n", strings.Repeat("word ", i%997), i, strings.Repeat("x", i%10007), i)
	}
	text := b.String()
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "in halves": iotest.HalfReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		t.Run(name, func(t *testing.T) { checkFrom(t, text, r) })
	}
	n := 0
	for f, err := range ExtractFrom(io.MultiReader(strings.NewReader("http://a "), iotest.ErrReader(io.ErrClosedPipe))) {
		if n++; (n == 1) != (f.URI.Unredacted() == "http://a" && err == nil) || (n == 2) != (err == io.ErrClosedPipe) {
			t.Errorf("%d: %v, %v", n, f, err)
		}
	}
	if n != 2 {
		t.Errorf("got %d results from a failing reader, want 2", n)
	}
}

// checkFrom compares the results of ExtractFrom and Extract.
func checkFrom(t *testing.T, text string, r io.Reader) {
	t.Helper()
	var got []Match
	for f, err := range ExtractFrom(r) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f)
	}
	if want := slices.Collect(Extract(text)); !slices.Equal(got, want) {
		t.Errorf("found %d, want %d", len(got), len(want))
	}
}

// FuzzExtract verifies that each match is a valid URI at the reported position,
// and that Extract also finds it without the text around it.
func FuzzExtract(f *testing.F) {
	for _, r := range rows(f, "extract.jsonl") {
		f.Add(r.Text, uint32(0))
	}
	for i, piece := range hostile {
		f.Add("<"+piece+"> http://a/b", uint32(i*4099))
	}
	f.Fuzz(func(t *testing.T, text string, pad uint32) {
		if len(text) > 1<<10 {
			return // skip long input, because the grammar is slow
		}
		last := 0
		for x := range Extract(text) {
			if x.Start < last || x.End <= x.Start || x.End > len(text) {
				t.Fatalf("%q: %d to %d after %d", text, x.Start, x.End, last)
			}
			last = x.End
			checkURI(t, x.URI)
			if x.URI.Scheme() == "" || !x.Alternative.IsZero() && x.Alternative.Scheme() != x.URI.Scheme() {
				t.Errorf("%q: %q or %q", text, x.URI.Unredacted(), x.Alternative.Unredacted())
			}
			written := strings.Join(strings.Fields(text[x.Start:x.End]), "")
			if got := EscapeNonASCII(written); got != x.URI.Unredacted() {
				t.Errorf("%q: %q is written %q", text, x.URI.Unredacted(), got)
			}
			alone := slices.Collect(Extract("<URL:" + text[x.Start:x.End] + ">"))
			if len(alone) != 1 || alone[0].URI != x.URI {
				t.Errorf("%q: %q is not found without its context: %v", text, x.URI.Unredacted(), alone)
			}
		}
		if pad %= 2 * window; pad%7 == 0 { // a match across a window boundary
			text = strings.Repeat("a ", int(pad)/2) + text + strings.Repeat(" b", window/2)
			checkFrom(t, text, strings.NewReader(text))
		}
	})
}

// TestExtractVectors runs the test vectors. If a row accepts the unescaped form
// of an IRI, its escaped form is the expected URI.
func TestExtractVectors(t *testing.T) {
	for _, r := range rows(t, "extract.jsonl") {
		got := extractAll(r.Text)
		if !slices.ContainsFunc(append(r.Accept, r.Expected), func(want any) bool {
			return slices.EqualFunc(got, want.([]any), func(g string, w any) bool { return g == EscapeNonASCII(w.(string)) })
		}) {
			t.Errorf("%s: in %q: got %q, want %q", r.ID, r.Text, got, r.Expected)
		}
	}
}
