package gopher

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/uri"
)

func readMenu(base, media, text string) (all []fetch.Entry, err error) {
	for e, err := range menu(uri.MustParse(base), media, strings.NewReader(text)) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func TestMenuLine(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"text", "0About\t/about\th.example\t70", `document "About" gopher://h.example/0/about text/plain type="0"`},
		{"menu at another port", "1Sub\t/sub\th\t7070", `menu "Sub" gopher://h:7070/1/sub application/gopher-menu type="1"`},
		{"empty selector", "1Home\t\th\t70", `menu "Home" gopher://h/1 application/gopher-menu type="1"`},
		{"selector that begins with its type", "1Sub\t1/sub\th\t70", `menu "Sub" gopher://h/11/sub application/gopher-menu type="1"`},
		{"characters that a URL must escape", "0A\t/cgi?a=b%20#c d\th\t70", `document "A" gopher://h/0/cgi%3Fa=b%2520%23c%20d text/plain type="0"`},
		{"name in ISO 8859-1", "0caf\xe9\t/caf\xe9\th\t70", `document "café" gopher://h/0/caf%E9 text/plain charset="iso-8859-1" type="0"`},
		{"UTF-8", "0月\t/月\th\t70", `document "月" gopher://h/0/%E6%9C%88 text/plain type="0"`},
		{"index", "7Find\t/find\th\t70", `index "Find" gopher://h/7/find application/gopher-menu type="7"`},
		{"phone book", "2Phones\t\tph.example\t105", `index "Phones" gopher://ph.example:105/2 text/x-ph type="2"`},
		{"image with a file extension", "IPhoto\t/a.JPG\th\t70", `document "Photo" gopher://h/I/a.JPG image/jpeg type="I"`},
		{"unknown type", "XOdd\t/odd\th\t70", `document "Odd" gopher://h/X/odd type="X"`},
		{"item type that a URL must escape", "\"Odd\t/odd\th\t70", `document "Odd" gopher://h/%22/odd type="\""`},
		{"item type that is not ASCII", "\xe9Odd\t/odd\th\t70", `info "Odd" charset="iso-8859-1" type="é"`},
		{"Gopher+", "0A\t/a\th\t70\t+", `document "A" gopher://h/0/a text/plain plus="+" type="0"`},
		{"Gopher+ form", "0A\t/a\th\t70\t?", `document "A" gopher://h/0/a%09%09? text/plain plus="?" type="0"`},
		{"unknown fields", "0A\t/a\th\t70\tx\ty", `document "A" gopher://h/0/a text/plain type="0"`},
		{"padded name", "0A      \t/a\th\t70", `document "A" gopher://h/0/a text/plain type="0"`},
		{"IPv6", "1A\t\t2001:db8::1\t7070", `menu "A" gopher://[2001:db8::1]:7070/1 application/gopher-menu type="1"`},
		{"server of the menu", "1A\t/a\tHere.Example\t7000", `menu "A" gophers://Here.Example:7000/1/a application/gopher-menu type="1"`},
		{"server of the menu with another port", "1A\t/a\there.example\t70", `menu "A" gopher://here.example/1/a application/gopher-menu type="1"`},

		{"telnet", "8BBS\tguest\tbbs.example\t23", `session "BBS" telnet://guest@bbs.example/ type="8"`},
		{"telnet without login or port", "8BBS\t\tbbs.example\t0", `session "BBS" telnet://bbs.example/ type="8"`},
		{"telnet with a port and a login name to escape", "8BBS\ta@b:c\tbbs.example\t2323", `session "BBS" telnet://a%40b%3Ac@bbs.example:2323/ type="8"`},
		{"tn3270", "TVM\t\tvm.example\t23", `session "VM" tn3270://vm.example/ type="T"`},

		{"link", "hWeb\tURL:http://example.com/a?b#c\th\t70", `document "Web" http://example.com/a?b#c type="h"`},
		{"link after a slash", "hWeb\t/URL:https://example.com\th\t70", `document "Web" https://example.com type="h"`},
		{"link to a session", "hBBS\tURL:telnet://bbs.example:2323\th\t70", `session "BBS" telnet://bbs.example:2323 type="h"`},
		{"host in UTF-8", "0A\t/a\tbücher.example\t7070", `document "A" gopher://xn--bcher-kva.example:7070/0/a text/plain type="0"`},
		{"host in Latin-1", "0A\t/a\tb\xfccher.example\t70", `info "A" charset="iso-8859-1" type="0"`},
		{"link to a host in UTF-8", "hWeb\tURL:http://bücher.example/ü\th\t70", `document "Web" http://xn--bcher-kva.example/%C3%BC type="h"`},
		{"link to an IP address in full-width digits", "hWeb\tURL:http://１２７.0.0.1/\th\t70", `document "Web" http://127.0.0.1/ type="h"`},
		{"link in an item that is not HTML", "1Hole\tURL:gopher://h/1\th\t70", `document "Hole" gopher://h/1 type="1"`},
		{"link without a host field", "hWeb\tURL:http://example.com/", `document "Web" http://example.com/ type="h"`},
		{`link in the older form "GET /"`, "hWeb\tGET /a?b\tw.example\t8080", `document "Web" http://w.example:8080/a?b type="h"`},
		{"invalid link", "hWeb\tURL:no link\th\t70", `info "Web" type="h"`},
		{"link without a scheme", "hWeb\tURL:/a\th\t70", `info "Web" type="h"`},
		{"HTML", "hPage\t/p.html\th\t70", `document "Page" gopher://h/h/p.html text/html type="h"`},

		{"note", "iWelcome\tfake\t(NULL)\t0", `info "Welcome" type="i"`},
		{"informational text with a host", "iWelcome\t\th\t70", `info "Welcome" type="i"`},
		{"error", "3No such file\t\terror.host\t1", `info "No such file" fault="not-found" type="3"`},
		{"placeholder host", "0A\t/a\terror.host\t1", `info "A" type="0"`},
		{"(NULL)", "1A\t/a\t(NULL)\t70", `info "A" type="1"`},
		{"no port", "0A\t/a\th", `info "A" type="0"`},
		{"empty port", "0A\t/a\th\t", `info "A" type="0"`},
		{"port 0", "0A\t/a\th\t0", `info "A" type="0"`},
		{"port greater than 65535", "0A\t/a\th\t65536", `info "A" type="0"`},
		{"port of six digits", "0A\t/a\th\t000070", `info "A" type="0"`},
		{"port with a plus sign", "0A\t/a\th\t+70", `info "A" type="0"`},
		{"port with a space", "0A\t/a\th\t70 ", `info "A" type="0"`},
		{"no host", "0A\t/a\t\t70", `info "A" type="0"`},
		{"invalid host", "0A\t/a\th/x@y\t70", `info "A" type="0"`},
		{"IPv6 address with a zone", "0A\t/a\tfe80::1%eth0\t70", `info "A" type="0"`},
		{"CR in a selector", "0A\t/a\rQUIT\th\t70", `info "A" type="0"`},
		{"NUL in a selector", "0A\t/a\x00\th\t70", `info "A" type="0"`},
		{"line without a TAB", "0A", `info "0A"`},
		{"prose", "Welcome to this server.", `info "Welcome to this server."`},
		{"blank line", "", `info ""`},
		{"escape sequence in a name", "0\x1b[2JA\t/a\th\t70", `document "\x1b[2JA" gopher://h/0/a text/plain type="0"`},
	} {
		all, err := readMenu("gophers://here.example:7000/1/", menuMedia, c.line+"\r\n")
		if err != nil || len(all) != 1 {
			t.Errorf("%s: got %v, %v", c.name, all, err)
			continue
		}
		if got := schemetest.DescribeEntry(all[0], ""); got != c.want {
			t.Errorf("%s: %q is %s, want %s", c.name, c.line, got, c.want)
		}
		if all[0].Raw != c.line || all[0].Size != -1 {
			t.Errorf("%s: raw %q, size %d", c.name, all[0].Raw, all[0].Size)
		}
	}
}

func TestMenu(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{`"." line only`, ".\r\n", ""},
		{`no "." line`, "1a\t\th\t70", "a"},
		{"LF and CR LF as line ends", "1a\t\th\t70\n1b\t\th\t70\r\n.\r\n1c\t\th\t70\r\n", "a b"},
		{"redundant servers with the type of the previous item", "9a\t/a\th\t70\r\n+b\t/b\ti\t70\r\n", "a b"},
		{"line that begins with a dot", ".hidden\r\n1a\t\th\t70\r\n", ".hidden a"},
		{"blank lines", "\r\n\r\n1a\t\th\t70\r\n", "  a"},
	} {
		all, err := readMenu("gopher://h/", menuMedia, c.text)
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, " "); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	all, _ := readMenu("gopher://h/", menuMedia, "9a\t/a\th\t70\r\n+b\t/b\ti\t70\r\n")
	if got := schemetest.DescribeEntry(all[1], ""); got != `document "b" gopher://i/9/b application/octet-stream type="+"` {
		t.Errorf("mirror: got %s", got)
	}
}

func TestMenuErrors(t *testing.T) {
	all, err := readMenu("gopher://h/", "", "1a\t\th\t70\r\n"+strings.Repeat("x", maxLine+1)+"\r\n1b\t\th\t70\r\n")
	if len(all) != 1 || !errors.Is(err, fetch.Protocol) {
		t.Errorf("long line: got %v, %v", all, err)
	}
	for _, e := range []error{io.ErrUnexpectedEOF, fetch.Timeout.Errorf("stalled")} {
		n := 0
		var last error
		for _, err := range menu(uri.MustParse("gopher://h/"), menuMedia, io.MultiReader(strings.NewReader("1a\t\th\t70\r\n1b"), errReader{e})) {
			if err == nil {
				n++
			}
			last = err
		}
		if n != 1 || !errors.Is(last, e) {
			t.Errorf("%v: got %d entries and %v", e, n, last)
		}
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// A longMenu generates a menu with the given number of lines while it is read.
type longMenu struct {
	left int
	line string
	rest string
}

func (m *longMenu) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if m.rest == "" {
			if m.left == 0 {
				return n, io.EOF
			}
			m.left--
			m.rest = m.line
		}
		k := copy(p[n:], m.rest)
		m.rest = m.rest[k:]
		n += k
	}
	return n, nil
}

const usualLine = "0A document of the usual kind, 1994\t0/pub/docs/usual document.txt\tgopher.example.org\t70\t+\r\n"

// TestMenuMemory checks that the memory use of a menu with a million lines is
// bounded.
func TestMenuMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a million lines")
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, peak := 0, uint64(0)
	for _, err := range menu(uri.MustParse("gopher://gopher.example.org/"), menuMedia, &longMenu{left: 1_000_000, line: usualLine}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%50_000 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
		}
	}
	if n != 1_000_000 || peak > 32<<20 {
		t.Errorf("%d entries used up to %d MiB", n, peak>>20)
	}
}

// BenchmarkMenu parses a menu with a million lines.
func BenchmarkMenu(b *testing.B) {
	base := uri.MustParse("gopher://gopher.example.org/")
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range menu(base, menuMedia, &longMenu{left: 1_000_000, line: usualLine}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1_000_000 {
			b.Fatal(n)
		}
	}
}
