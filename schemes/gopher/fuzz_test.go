package gopher

import (
	"bufio"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/askform"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// FuzzGopherMenu checks that any input results in one entry per line, and that
// the URL of an entry names the object of its line.
func FuzzGopherMenu(f *testing.F) {
	for _, s := range []string{
		usualLine, "iWelcome\tfake\t(NULL)\t0\r\n3gone\t\terror.host\t1\r\n.\r\n1after\t\th\t70", "8BBS\tguest\tbbs\t23\nTVM\t\tvm\t0\n",
		"hWeb\tURL:http://example.com/\th\t70\r\nhOld\tGET /a?b\th\t80\r\n", "+mirror\t/a\t2001:db8::1\t70\t?\r\n", "prose\r\n\r\n\xff\xfe\t\x00\t\r\t70\r\n",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, plus bool) {
		media := menuMedia
		if plus {
			media = plusMedia
		}
		all, err := readMenu("gophers://here.example:7000/1", media, text)
		count := 0
		for e, err2 := range menu(uri.MustParse("gophers://here.example:7000/1"), media, iotest.OneByteReader(strings.NewReader(text))) {
			if err2 != nil {
				if err == nil || err.Error() != err2.Error() {
					t.Fatalf("byte by byte: error %v, want %v", err2, err)
				}
				break
			}
			if count == len(all) || schemetest.DescribeEntry(e, "") != schemetest.DescribeEntry(all[count], "") || e.Raw != all[count].Raw {
				t.Fatalf("byte by byte: entry %d differs: %s", count, schemetest.DescribeEntry(e, ""))
			}
			count++
		}
		if count != len(all) {
			t.Fatalf("byte by byte: %d entries, want %d", count, len(all))
		}
		for _, e := range all {
			checkEntry(t, e)
		}
	})
}

func checkEntry(t *testing.T, e fetch.Entry) {
	if !utf8.ValidString(e.Name) || e.Size != -1 {
		t.Fatalf("name %q, size %d", e.Name, e.Size)
	}
	if (e.Kind == fetch.Info) != e.URL.IsZero() {
		t.Fatalf("kind %v with URL %q", e.Kind, e.URL)
	}
	if _, err := e.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	i, _ := parseItem(e.Raw)
	if _, isLink := linkOf(i.selector); isLink || e.URL.IsZero() {
		return
	}
	if _, password, has := e.URL.User(); has {
		t.Fatalf("password %q in the URL of an entry", password)
	}
	switch e.URL.Scheme() {
	case "http", "telnet", "tn3270":
		return
	}
	l, err := locate(e.URL)
	if err != nil || l.selector != i.selector || l.words != "" || l.plus.hasForm || l.plus.verb != 0 && i.plus != "?" {
		t.Fatalf("%q has the URL %s, parsed as %+v, %v", e.Raw, e.URL, l, err)
	}
}

// FuzzGopherPlus checks that any response is read without a panic and with
// bounded memory, and that an incomplete response is never reported as
// complete.
func FuzzGopherPlus(f *testing.F) {
	for _, path := range []string{"0/a", "1/a", "9/a", "h/a", "0/a%09%09+", "0/a%09%09+text/plain%20En_US", "0/a%09%09!", "1/a%09%09$"} {
		for _, answer := range []string{
			"+5\r\nhello", "+-1\r\na\r\n..\r\n.\r\n", "+-2\r\nall", "--1\r\n1 Admin <a@b>\r\n0'/a' does not exist!!\t\t\t\r\n.\r\n",
			"--2\r\n3 Admin <a@b>\r\n0a\t/b\th\t70\t+\r\n", "-7\r\n2 later", "+-3\r\n", "+99999999999999999999\r\n", "3gone\t\terror.host\t1\r\n",
			"Error: File or directory not found! (x)\r\n", "+-1\r\n+INFO: 0a\t/a\th\t70\t?\r\n+ADMIN:\r\n Mod-Date: <20261120131518>\r\n+VIEWS:\r\n text/plain: <1k>\r\n+ASK:\r\n Choose: a\tb\tc\r\n.\r\n",
		} {
			f.Add(path, answer)
		}
	}
	f.Fuzz(func(t *testing.T, path, answer string) {
		u, err := uri.Parse("gopher://h/" + path)
		if err != nil {
			return
		}
		req := &fetch.Request{URL: u}
		l, err := Options{}.locate(req)
		if err != nil || !l.link.IsZero() || l.item == '2' {
			return
		}
		near, far := faultnet.Pipe(netip.MustParseAddrPort("192.0.2.2:1"), netip.MustParseAddrPort("192.0.2.1:70"))
		defer far.Close()
		s := sessions.NewSingle(sessions.NewConn(near, nil, ""), func() bool { return true })
		s.R = bufio.NewReaderSize(strings.NewReader(answer), sessions.SingleBuffer)
		defer s.Close()
		resp, err := (&driver{}).readResponse(req, l, s)
		if err != nil {
			if fetch.FaultOf(err) == fetch.Internal {
				t.Fatalf("error without a fault: %v", err)
			}
			return
		}
		if resp.Fault != nil && fetch.FaultOf(resp.Fault) == fetch.Internal || resp.Fault != nil && strings.ContainsAny(resp.Fault.Error(), "\r\n\x1b\x00") {
			t.Fatalf("fault %q", resp.Fault)
		}
		body, err := io.ReadAll(resp.Body)
		switch {
		case len(body) > len(answer):
			t.Fatalf("body of %[2]d bytes from a response of %[1]d bytes", len(answer), len(body))
		case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatal(err)
		case err == nil && resp.Size >= 0 && resp.Fault == nil && resp.Size != int64(len(body)):
			t.Fatalf("announced %d bytes, got %d", resp.Size, len(body))
		}
		checkBody(t, resp, string(body))
	})
}

func checkBody(t *testing.T, resp *fetch.Response, body string) {
	if !resp.Location.IsZero() && resp.Location.Scheme() == "" {
		t.Fatalf("moved to %q", resp.Location)
	}
	if resp.Kind != fetch.Menu || resp.Fault != nil {
		return
	}
	for e, err := range menu(uri.MustParse("gopher://h/"), resp.Media, strings.NewReader(body)) {
		if err != nil {
			return
		}
		checkEntry(t, e)
	}
	for a := range items(strings.NewReader(body)) {
		for _, field := range askform.Parse(a.lines("ASK")) {
			if field.Kind == Choice && len(field.Choices) == 0 {
				t.Fatalf("choice field without choices: %+v", field)
			}
		}
	}
}
