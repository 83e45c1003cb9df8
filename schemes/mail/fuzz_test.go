package mail

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// FuzzURL checks that each accepted URL yields commands without line breaks,
// and that the URL of the parsed object names the same object.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"/INBOX;UIDVALIDITY=3/;UID=20/;SECTION=1.2/;PARTIAL=0.1024", "/a%2Fb/;UID=1/;SECTION=HEADER.FIELDS%20(from%20X-a)", "/INBOX?OR%20FROM%20%22a%5C%22%22%20(TO%20caf%C3%A9)",
		"/;AUTH=*", "/%E6%97%A5%0d%0a", "/x;MAILINDEX=3", "/x?SUBJECT%20%7B3%2B%7D%0d%0aabc"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := uri.Parse("imap://h" + text)
		if err != nil {
			return
		}
		l, err := parseLocator(u)
		if err != nil {
			if fault := fetch.FaultOf(err); fault != fetch.BadURL && fault != fetch.NeedQuery && fault != fetch.Unsupported {
				t.Fatalf("%s: %v", u, err)
			}
			return
		}
		for _, s := range commandSteps(l, fetch.Get) {
			if strings.ContainsAny(s.Verb+s.Arg, "\r\n\x00") {
				t.Fatalf("%s: step %q", u, s)
			}
		}
		n := newNamer(u)
		switch l.kind {
		case kindMessage:
			if second, err := parseLocator(n.message(&mailbox{name: l.mailbox, validity: l.validity}, max(l.uid, 1))); err != nil || second.mailbox != l.mailbox || second.validity != l.validity {
				t.Fatalf("%s: parsed %+v, its URL %+v, %v", u, l, second, err)
			}
		case kindSearch:
			checkProgram(t, l.search)
		}
	})
}

// checkProgram checks that the encoded form of a search parses to the same
// search.
func checkProgram(t *testing.T, text string) {
	p, err := parseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	wire, _ := p.encode(maxProgram)
	if sync, waits := p.encode(0); len(sync) != len(wire)-len(waits) || len(waits) != strings.Count(sync, "\r\n") {
		t.Fatalf("%q is encoded as %q, in %v", text, sync, waits)
	}
	plain := wire
	for i := strings.Index(plain, "+}\r\n"); i >= 0; i = strings.Index(plain, "+}\r\n") {
		open := strings.LastIndex(plain[:i], "{")
		size := 0
		for _, c := range plain[open+1 : i] {
			size = size*10 + int(c-'0')
		}
		body := plain[i+4 : i+4+size]
		plain = plain[:open] + quote(body) + plain[i+4+size:]
	}
	if strings.ContainsAny(plain, "\r\n\x00") {
		t.Fatalf("%q is encoded as %q", text, wire)
	}
	plain = strings.TrimPrefix(plain, "CHARSET UTF-8 ")
	second, err := parseProgram(plain)
	if err != nil || len(second) != len(p) {
		t.Fatalf("%q is encoded as %q, which parses as %v, %v", text, wire, second, err)
	}
	for i := range p {
		if p[i].text != second[i].text {
			t.Fatalf("%q is encoded as %q, which parses as %v", text, wire, second)
		}
	}
}

// FuzzMid checks that ids and addresses of accepted mid and mailto URLs contain
// no characters that are unsafe in a command.
func FuzzMid(f *testing.F) {
	for _, s := range []string{"960830.1639@XIson.com/partA.960830.1639@XIson.com", "%3Ca@b%3E", "foo4%25foo1@bar.net", "a%2Fb@c/d%2Fe", "a?b=c@d", "a@x,b@x?to=c@x&subject=hi"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if u, err := uri.Parse("mid:" + text); err == nil {
			if l, err := parseMid(u); err == nil {
				checkID(t, strings.Trim(l.messageID, "<>"))
				if l.contentID != "" {
					checkID(t, l.contentID)
				}
				checkProgram(t, "HEADER Message-ID "+quote(l.messageID))
			}
		}
		if u, err := uri.Parse("mailto:" + text); err == nil {
			if set, err := parseMailto(u); err == nil {
				checkProgram(t, set.searchProgram())
			}
		}
	})
}

func checkID(t *testing.T, id string) {
	if second, err := parseID(uri.Escape(id, uri.Segment)); err != nil || second != id {
		t.Fatalf("id %q parses as %q, %v", id, second, err)
	}
}

// FuzzServer checks that the client terminates on any input after the greeting,
// limits its output and sends only the expected commands.
func FuzzServer(f *testing.F) {
	const examined = "* 3 EXISTS\r\n* OK [UIDVALIDITY 42] x\r\nT1 OK done\r\n"
	for _, s := range []string{
		examined + "* 2 FETCH (UID 7 BODY[] {5}\r\nhello)\r\nT2 OK done\r\n",
		examined + "* 2 FETCH (UID 7 FLAGS (\\Seen))\r\nT2 OK done\r\n* 2 FETCH (UID 7 BODY[] \"x\")\r\nT3 OK done\r\n",
		examined + "* 2 FETCH (UID 7 BODY[] NIL)\r\nT2 OK done\r\n", "T1 NO [NONEXISTENT] no\r\n", "* BYE\r\n",
		examined + "* 1 FETCH (UID 5 FLAGS () INTERNALDATE \" 1-Jan-2000 00:00:00 +0000\" RFC822.SIZE 10 ENVELOPE (NIL \"s\" NIL NIL NIL NIL NIL NIL NIL \"<5@h>\"))\r\nT2 OK done\r\n",
		"* LIST (\\Noselect) \"/\" \"a&AOk-\"\r\nT1 OK done\r\n", examined + "* SEARCH 5 8\r\nT2 OK done\r\n* 1 FETCH (UID 5 BODY[] {9}\r\nabc",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(2))
		f.Add([]byte(s), uint8(3))
	}
	urls := []string{"imap://bob@h/INBOX/;UID=7", "imap://bob@h/INBOX", "imap://bob@h/", "imap://bob@h/INBOX?NEW"}
	f.Fuzz(func(t *testing.T, in []byte, which uint8) {
		c := &scripted{in: append([]byte("* PREAUTH [CAPABILITY IMAP4rev1] hi\r\n"), in...), closed: make(chan struct{})}
		done := make(chan struct{})
		defer close(done)
		d := &driver{env: fetch.Env{Net: scriptedNet{c}}, port: plaintextPort, idle: sessions.Pool[*session]{Done: done}}
		u := uri.MustParse(urls[int(which)%len(urls)])
		resp, err := d.Do(t.Context(), &fetch.Request{URL: u})
		if err == nil {
			n, err := io.Copy(io.Discard, resp.Body)
			if n > int64(len(in))*20+1000 || err != nil && fetch.FaultOf(err) == fetch.Internal {
				t.Fatalf("%d bytes out of %d, %v", n, len(in), err)
			}
			resp.Body.Close()
		} else if fetch.FaultOf(err) == fetch.Internal {
			t.Fatal(err)
		}
		c.Close()
		for l := range bytes.Lines(c.sent()) {
			tag, rest, _ := bytes.Cut(bytes.TrimRight(l, "\r\n"), []byte(" "))
			verb, _, _ := bytes.Cut(rest, []byte(" "))
			if len(tag) < 2 || tag[0] != 'T' || !strings.Contains("EXAMINE UID LIST FETCH", string(verb)) {
				t.Fatalf("sent %q", l)
			}
		}
	})
}

// FuzzNoExtraCommand checks that a URL and its credentials cannot inject a
// command.
func FuzzNoExtraCommand(f *testing.F) {
	f.Add("/INBOX/;UID=7/;SECTION=1.2", "bob", "s3cret")
	f.Add("/a%0d%0aT9%20DELETE%20b", "a\r\nb", "\x00")
	f.Add("/caf%C3%A9?SUBJECT%20caf%C3%A9%20(FROM%20%22a%5C%22b%22)", "b\"ob", "s\\")
	f.Add("/INBOX/;UID=7/;SECTION=HEADER.FIELDS%20(from)/;PARTIAL=1.2", "", "{3+}")
	f.Fuzz(func(t *testing.T, path, user, password string) {
		u, err := uri.Parse("imap://h" + path)
		if err != nil {
			return
		}
		for _, greeting := range []string{"* PREAUTH [CAPABILITY IMAP4rev1 LITERAL+] hi\r\n", "* OK [CAPABILITY IMAP4rev1 LITERAL+] hi\r\n"} {
			w := newOKServer()
			w.in = []byte(greeting)
			done := make(chan struct{})
			d := &driver{env: fetch.Env{Net: scriptedNet{w}}, port: plaintextPort, idle: sessions.Pool[*session]{Done: done}}
			resp, err := d.Do(t.Context(), &fetch.Request{URL: u, Auth: &fetch.Credential{User: user, Password: fetch.Secret(password)}})
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			close(done)
			w.Close()
			checkLines(t, w, user, password)
		}
	})
}

func checkLines(t *testing.T, w *okServer, user, password string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, l := range w.lines {
		words := strings.Fields(l)
		if len(words) < 2 || i > 8 {
			t.Fatalf("sent %q", w.lines)
		}
		switch words[1] {
		case "CAPABILITY", "EXAMINE", "LIST", "UID", "FETCH", "LOGOUT":
		case "LOGIN":
			if want := "A1 LOGIN " + quote(user) + " " + quote(password) + "\r\n"; l != want {
				t.Fatalf("sent %q, want %q", l, want)
			}
		default:
			t.Fatalf("sent %q", l)
		}
	}
}
