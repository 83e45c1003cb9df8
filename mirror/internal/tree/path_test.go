package tree

import (
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

func TestPath(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ name, url, want string }{
		{"plain", "http://h/a/b.html", "http/h/a/b.html"},
		{"root", "http://h/", "http/h/index.html"},
		{"no path", "http://h", "http/h/index.html"},
		{"folder", "http://h/d/", "http/h/d/index.html"},
		{"default port", "http://h:80/a", "http/h/a"},
		{"other port", "http://h:08080/a", "http/h+8080/a"},
		{"host with upper case and trailing dot", "HTTP://Ex.Org./A", "http/ex.org%2E/A"},
		{"IPv4", "http://127.0.0.1:99/", "http/127.0.0.1+99/index.html"},
		{"IPv6", "http://[2001:DB8::1]:99/", "http/[2001-db8--1]+99/index.html"},
		{"host with a plus sign", "http://a+80/", "http/a%2B80/index.html"},
		{"percent-encoded host", "http://a%2Fb%C3%BC/", "http/a%2Fbü/index.html"},
		{"host that is a Windows device name", "http://con/", "http/co%6E/index.html"},
		{"userinfo and fragment", "http://u:p@h/a#f", "http/h/a"},
		{"query", "http://h/a?b=c&d", "http/h/a@q=b=c%26d"},
		{"empty query", "http://h/a?", "http/h/a@q="},
		{"query of a folder", "http://h/?C=M", "http/h/index.html@q=C=M"},
		{"parent folder in a query", "http://h/?x=1/../../etc", "http/h/index.html@q=x=1%2F..%2F..%2Fetc"},
		{"percent-encoded parent folder", "http://h/%2e%2e/%2E%2e/%2e", "http/h/%2E%2E/%2E%2E/%2E"},
		{"literal parent folder", "http://h/../a", "http/h/%2E%2E/a"},
		{"dot folder", "http://h/./", "http/h/%2E/index.html"},
		{"encoded slash", "http://h/a%2Fb", "http/h/a%2Fb"},
		{"encoded percent", "http://h/a%252Fb", "http/h/a%252Fb"},
		{"NUL and LF", "http://h/a%00b%0A", "http/h/a%00b%0A"},
		{"invalid UTF-8", "http://h/%FF%FE", "http/h/%FF%FE"},
		{"UTF-8", "http://h/%C3%BC.txt", "http/h/ü.txt"},
		{"incomplete UTF-8 sequence", "http://h/%C3x%E2%82", "http/h/%C3x%E2%82"},
		{"control characters in UTF-8", "http://h/%C2%85%E2%80%AE", "http/h/%C2%85%E2%80%AE"},
		{"surrogate", "http://h/%ED%A0%80", "http/h/%ED%A0%80"},
		{"characters that Windows forbids", "http://h/%3Ca%3E:%22%7C*%5C", "http/h/%3Ca%3E%3A%22%7C%2A%5C"},
		{"shell metacharacters", "http://h/$a&b;c'd", "http/h/%24a%26b%3Bc%27d"},
		{"unreserved characters, percent-encoded", "http://h/%61%7e", "http/h/a~"},
		{"empty segments", "http://h//a//b", "http/h/%/a/%/b"},
		{"trailing dot and space", "http://h/a./b..", "http/h/a%2E/b.%2E"},
		{"space", "http://h/a%20b%20", "http/h/a%20b%20"},
		{"hidden folder, name like an option", "http://h/.a/-b", "http/h/%2Ea/%2Db"},
		{"hidden, percent-encoded", "http://h/%2Egit/config", "http/h/%2Egit/config"},
		{"hidden, percent-encoded twice", "http://h/%252Egit", "http/h/%252Egit"},
		{"hidden with a query", "http://h/.a?-b", "http/h/%2Ea@q=-b"},
		{"hidden folder", "http://h/.git/", "http/h/%2Egit/index.html"},
		{"hidden host", "http://.git/-", "http/%2Egit/%2D"},
		{"hidden with a trailing dot", "http://h/.a.", "http/h/%2Ea%2E"},
		{"three dots", "http://h/...", "http/h/%2E.%2E"},
		{"HEAD of a bare repository", "http://h/r/HEAD", "http/h/r/%48EAD"},
		{"head in lower case, percent-encoded", "http://h/r/%68eaD", "http/h/r/%68eaD"},
		{"folder named head", "http://h/Head/", "http/h/%48ead/index.html"},
		{"host named head", "http://head/", "http/%68ead/index.html"},
		{"HEAD with an extension", "http://h/HEAD.html", "http/h/HEAD.html"},
		{"HEAD with a query", "http://h/HEAD?", "http/h/HEAD@q="},
		{"HEAD on a gopher server", "gopher://h/0/r/HEAD", "gopher/h/0/r/%48EAD"},
		{"gopher menu named HEAD", "gopher://h/1/r/HEAD", "gopher/h/1/r/%48EAD/.gophermap"},
		{"HEAD on an FTP server", "ftp://h/r/HEAD;type=i", "ftp/h/r/%48EAD"},
		{"hidden and long", "http://h/." + long, "http/h/%2E" + long[:117] + "~" + digest("%2E"+long)},
		{"hidden menu", "gopher://h/1.cache", "gopher/h/1.cache/.gophermap"},
		{"file named like a listing", "ftp://h/.listing", "ftp/h/%2Elisting"},
		{"hidden folder with a type", "ftp://h/.a;type=d", "ftp/h/%2Ea/.listing"},
		{
			"Windows device names", "http://h/CON/nul.tar.gz/com1/lpt%C2%B9.x/com10/console",
			"http/h/CO%4E/nu%6C.tar.gz/com%31/lpt%C2%B9.x/com10/console",
		},
		{"300 bytes", "http://h/" + long, "http/h/" + long[:120] + "~" + digest(long)},
		{"gopher root", "gopher://h/", "gopher/h/.gophermap"},
		{"gopher type without a selector", "gopher://h/1", "gopher/h/1/.gophermap"},
		{"gopher menu", "gopher://h:7070/1/a/b", "gopher/h+7070/1/a/b/.gophermap"},
		{"gopher menu without slash", "gopher://h/1a", "gopher/h/1a/.gophermap"},
		{"gopher text", "gopher://h/0/a/b.txt", "gopher/h/0/a/b.txt"},
		{"gopher search", "gopher://h/7/s%09a%20b", "gopher/h/7/s%09a%20b"},
		{"gopher query", "gopher://h/0/s?x", "gopher/h/0/s@q=x"},
		{"ftp", "ftp://h/a/b", "ftp/h/a/b"},
		{"ftp folder", "ftp://h/a/", "ftp/h/a/.listing"},
		{"ftp type", "ftp://h/a/b;type=i", "ftp/h/a/b"},
		{"ftp listing", "ftp://h/a;type=d", "ftp/h/a/.listing"},
		{"ftp folder with type", "ftp://h/a/;type=D", "ftp/h/a/.listing"},
		{"ftp no type", "ftp://h/a;type=x", "ftp/h/a;type=x"},
		{"ftp name with a space", "ftp://h/a%20dir/name%20with%20space.txt", "ftp/h/a dir/name with space.txt"},
		{"ftp name with punctuation", "ftp://h/a%23b&c'd%5B1%5D$%60%7B%5E%7D;=.txt", "ftp/h/a#b&c'd[1]$`{^};=.txt"},
		{"ftp spaces at the ends", "ftp://h/%20a%20/%20/%20.", "ftp/h/%20a%20/%20/%20%2E"},
		{"ftp characters that Windows forbids", "ftp://h/%3Ca%3E%3A%22%7C%2A%5C%3F%25", "ftp/h/%3Ca%3E%3A%22%7C%2A%5C%3F%25"},
		{"ftp hidden file and option", "ftp://h/.git/-rf%20x", "ftp/h/%2Egit/%2Drf x"},
		{"ftp control characters", "ftp://h/a%0Ab%1B%7F", "ftp/h/a%0Ab%1B%7F"},
		{"ftp device name before spaces", "ftp://h/nul%20%20.txt", "ftp/h/nu%6C  .txt"},
		{"ftp HEAD and a space", "ftp://h/HEAD%20", "ftp/h/HEAD%20"},
		{"sftp", "sftp://h/a%20b", "sftp/h/a b"},
		{"nfs", "nfs://h/a%20b", "nfs/h/a b"},
		{"file with a space", "file:///a%20b", "file/localhost/a b"},
		{"ftp from the root", "ftp://h/%2Fetc/motd", "ftp/h/%2Fetc/motd"},
		{"message", "news:a.b%2Fc@d.org", "news/@/a.b%2Fc@d.org"},
		{"group", "nntp://h/comp.lang.c/12", "nntp/h/comp.lang.c/12"},
		{"wais", "wais://h/db?a%20b", "wais/h/db@q=a%20b"},
		{"wais document", "wais://h/db/TEXT/1%3D2", "wais/h/db/TEXT/1=2"},
		{"prospero", "prospero://h/a//b;v=1", "prospero/h/a/%/b%3Bv=1"},
		{"imap", "imap://h/INBOX;UIDVALIDITY=3/;UID=4", "imap/h/INBOX%3BUIDVALIDITY=3/%3BUID=4"},
		{"file", "file:///a/b", "file/localhost/a/b"},
		{"file folder", "file:///a/", "file/localhost/a/.listing"},
		{"mid", "mid:a@b", "mid/@/a@b"},
		{"relative", "a/b", "%/@/a/b"},
	} {
		got := newPath(uri.MustParse(c.url), false)
		if got != c.want {
			t.Errorf("%s: path of %s: got\n%s, want\n%s", c.name, c.url, got, c.want)
		}
		checkPath(t, got)
	}
	for _, c := range []struct {
		layout    Layout
		url, want string
	}{
		{FirstLayout, "http://h/.git/-rf", "http/h/.git/-rf"},
		{FirstLayout, "http://.git/", "http/.git/index.html"},
		{FirstLayout, "ftp://h/.listing", "ftp/h/.listing"},
		{FirstLayout, "http://h/HEAD", "http/h/HEAD"},
		{FirstLayout, "ftp://h/a%20b", "ftp/h/a%20b"},
		{safeLayout, "ftp://h/.git/a%20b", "ftp/h/%2Egit/a%20b"},
		{safeLayout, "ftp://h/a;type=x", "ftp/h/a%3Btype=x"},
	} {
		if got := pathIn(c.layout, uri.MustParse(c.url), false); got != c.want {
			t.Errorf("layout %d: path of %s: got\n%s, want\n%s", c.layout, c.url, got, c.want)
		}
	}
	for path, want := range map[string]Layout{
		"ftp/h/.git/a b": FirstLayout, "ftp/h/a%20b": safeLayout, "ftp/h/%20b": NewLayout, "ftp/h/a b": NewLayout,
		"ftp/h/a%2Fb": NewLayout, "ftp/h/a%2520b": NewLayout, "ftp/h/%2Egit/nu%6C.txt": NewLayout, "http/h/a%20b": NewLayout,
		"ftp/h/d%3Be/.listing": safeLayout, "ftp/h/.listing@q=a%20b": NewLayout,
	} {
		if got := LayoutOf(path, schemeNamed); got != want {
			t.Errorf("layout of %s: got %d, want %d", path, got, want)
		}
	}
	if got := Upgrade("http/h/.git/-rf/a.b/head/index.html"); got != "http/h/%2Egit/%2Drf/a.b/%68ead/index.html" {
		t.Errorf("Upgrade: got %q", got)
	}
	if got := newPath(uri.URI{}, false); got != "%/@/.listing" {
		t.Errorf("zero URL: got %q", got)
	}
	if got := newPath(uri.MustParse("http://h/sitemap.xml"), true); got != "http/h/sitemap.xml" {
		t.Errorf("sitemap: got %q", got)
	}
	if got := newPath(uri.MustParse("ftp://h/a"), true); got != "ftp/h/a/.listing" {
		t.Errorf("listing: got %q", got)
	}
}

// checkPath reports an error if path is not valid on every file system.
func checkPath(t *testing.T, path string) {
	t.Helper()
	if !fs.ValidPath(path) || strings.Count(path, "/") < 2 || len(path) > maxPath+50 || !utf8.ValidString(path) {
		t.Errorf("%q is not a path of the tree", path)
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(name) > 255 || strings.ContainsAny(name, "\\:*?\"<>|") ||
			strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 ||
			strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || strings.HasPrefix(name, " ") || device(name) > 0 {
			t.Errorf("%q in %q is not a valid name on Windows", name, path)
		}
	}
}

func TestLongPath(t *testing.T) {
	deep := strings.Repeat("/abcdefghi", 100)
	a, b := newPath(uri.MustParse("http://h"+deep), false), newPath(uri.MustParse("http://h"+deep+"/x"), false)
	checkPath(t, a)
	checkPath(t, b)
	if len(a) > maxPath || len(b) > maxPath || a == b || !strings.HasPrefix(a, "http/h/abcdefghi/") {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"A/b.TXT", "a/B.txt"},
		{"ü", "u\u0308", "Ü", "U\u0308"},
		{"straße", "STRASSE", "strasse", "straẞe"},
		{"\u01f0", "j\u030c", "J\u030c"},
		{"Σ", "σ", "ς"},
		{"K", "k", "\u212a"}, // Kelvin sign
	} {
		for _, other := range same[1:] {
			if fold(same[0]) != fold(other) {
				t.Errorf("%+q and %+q have different folded forms", same[0], other)
			}
		}
	}
	for _, two := range [][2]string{{"a", "b"}, {"ü", "u"}, {"i", "ı"}} {
		if fold(two[0]) == fold(two[1]) {
			t.Errorf("%+q and %+q have the same folded form", two[0], two[1])
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{
		"http://h/a/../b?c", "gopher://h:7/1a%09b", "ftp://h/%2F;type=d", "news:a@b", "http://[::1]:1/",
		"http://CON/aux.txt/%C2%B9", "http://h/" + strings.Repeat("%C3%BC", 60),
	} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, menu bool) {
		checkPath(t, "x/y/"+Name(s))
		u, err := uri.ParseReference(s)
		if err != nil {
			return
		}
		checkPath(t, newPath(u, menu))
	})
}

// TestOwnScheme checks the paths of a scheme that a program adds.
func TestOwnScheme(t *testing.T) {
	for _, c := range []struct {
		name      string
		files     scheme.FileNames
		url, want string
	}{
		{"default names", scheme.FileNames{}, "album://h/a%20b/", "album/h/a%20b/.listing"},
		{"default port", scheme.FileNames{}, "album://h:7777/a", "album/h/a"},
		{"no host", scheme.FileNames{Host: "local"}, "album:/a", "album/local/a"},
		{"host with a slash", scheme.FileNames{Host: "../a"}, "album:/a", "album/%2E.%2Fa/a"},
		{"native names", scheme.FileNames{Native: true}, "album://h/a%20b", "album/h/a b"},
		{"page", scheme.FileNames{Listing: "index.album", Pages: true}, "album://h/", "album/h/index.album"},
		{"hidden listing", scheme.FileNames{Listing: ".album"}, "album://h/", "album/h/%2Ealbum"},
		{"listing outside of the folder", scheme.FileNames{Listing: "../a"}, "album://h/", "album/h/%2E.%2Fa"},
		{"listing by path", scheme.FileNames{Path: func(u uri.URI) (string, bool) { return "/x", true }}, "album://h/", "album/h/x/.listing"},
	} {
		s := fetch.Scheme{Name: "album", Port: 7777, Mirror: scheme.Mirroring{Files: c.files}}
		if got := Path(s, uri.MustParse(c.url), false); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		} else {
			checkPath(t, got)
		}
	}
}
