package mail

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/uri"
	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// planOf returns the steps of the plan after the login, or the fault.
func planOf(t *testing.T, o Options, text string) (steps, fault string) {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		return "", "parse"
	}
	all, err := o.plan(&fetch.Request{URL: u}, true)
	if err != nil {
		return "", fetch.FaultOf(err).String()
	}
	return schemetest.JoinSteps(all[2:], " / "), ""
}

func TestPlan(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"imap://h", `LIST "" *`},
		{"imap://h/", `LIST "" *`},
		{"imap://h/INBOX", "EXAMINE INBOX / UID FETCH 1:* " + summaryItems},
		{"imap://h/INBOX/", "EXAMINE INBOX / UID FETCH 1:* " + summaryItems},
		{"imap://h/a%2Fb/c%3B", "EXAMINE a/b/c; / UID FETCH 1:* " + summaryItems},
		{"imap://h//a", "EXAMINE /a / UID FETCH 1:* " + summaryItems},
		{"imap://h/%E6%97%A5", "EXAMINE 日 / UID FETCH 1:* " + summaryItems},
		{"imap://h/INBOX?FROM%20%22a%5C%22b%22", `EXAMINE INBOX / UID SEARCH FROM "a\"b" / UID FETCH found ` + summaryItems},
		{"imap://h/INBOX/;UID=20", "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[]"},
		{"imap://h/INBOX;UID=20", "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[]"},
		{"imap://h/INBOX;UIDVALIDITY=3/;UID=20/;SECTION=1.2", "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[1.2.MIME] / UID FETCH 20 BODY.PEEK[1.2]"},
		{"imap://h/INBOX;UIDVALIDITY=3;UID=20;SECTION=text", "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[TEXT]"},
		{"imap://h/INBOX/;uid=20/;section=1.header.fields%20(from%20X-a)", "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[1.HEADER.FIELDS (from X-a)]"},
		{"imap://h/INBOX/;UID=20/;PARTIAL=0.1024", "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[]<0.1024>"},
		{"imap://h/INBOX/;UID=20/;SECTION=HEADER/;PARTIAL=5", "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[HEADER]<5.4294967295>"},
		{"imap://h/INBOX/;MAILINDEX=123/;SECTION=1.MIME", "EXAMINE INBOX / FETCH 123 BODY.PEEK[1.MIME]"},
		{"imap://h/INBOX/;UID=007", "EXAMINE INBOX / UID FETCH 7 BODY.PEEK[]"},
	} {
		if got, fault := planOf(t, Options{}, test.url); got != test.want {
			t.Errorf("%s: got %s%s, want %s", test.url, got, fault, test.want)
		}
	}
}

// TestPlanMbox tests the plans with Options.Mbox.
func TestPlanMbox(t *testing.T) {
	for url, want := range map[string]string{
		"imap://h/INBOX":         "EXAMINE INBOX / UID SEARCH ALL / UID FETCH found " + summaryItems + " / UID FETCH each BODY.PEEK[]",
		"imap://h/INBOX?NEW":     "EXAMINE INBOX / UID SEARCH NEW / UID FETCH found " + summaryItems + " / UID FETCH each BODY.PEEK[]",
		"imap://h/INBOX/;UID=20": "EXAMINE INBOX / UID FETCH 20 BODY.PEEK[]",
		"imap://h/":              `LIST "" *`,
	} {
		if got, fault := planOf(t, Options{Mbox: true}, url); got != want {
			t.Errorf("%s: got %s%s, want %s", url, got, fault, want)
		}
	}
}

func TestParseLocatorErrors(t *testing.T) {
	for _, url := range []string{
		"imap://h/a%0d%0aZ%20LOGOUT", "imap://h/a%00", "imap://h/a%0a/;UID=1", "imap://h/%ff", "imap://h/" + strings.Repeat("a", maxMailbox+1),
		"imap://h/;UID=1", "imap://h/INBOX/;UID=0", "imap://h/INBOX/;UID=4294967296", "imap://h/INBOX/;UID=+1", "imap://h/INBOX/;UID=1,2", "imap://h/INBOX/;UID=*",
		"imap://h/INBOX/;UID=1%0d%0aZ%20LOGOUT", "imap://h/INBOX/;UID", "imap://h/INBOX/;UID=", "imap://h/INBOX/;UID=1/;UID=2", "imap://h/INBOX/;UID=1/;MAILINDEX=1",
		"imap://h/INBOX/;SECTION=1", "imap://h/INBOX/;PARTIAL=1", "imap://h/INBOX/;UID=1/;UIDVALIDITY=1", "imap://h/INBOX;;UID=1", "imap://h/INBOX;",
		"imap://h/INBOX/;UID=1/;SECTION=0", "imap://h/INBOX/;UID=1/;SECTION=1.", "imap://h/INBOX/;UID=1/;SECTION=.1", "imap://h/INBOX/;UID=1/;SECTION=MIME",
		"imap://h/INBOX/;UID=1/;SECTION=1.FOO", "imap://h/INBOX/;UID=1/;SECTION=TEXT%5D%20BODY%5B", "imap://h/INBOX/;UID=1/;SECTION=HEADER.FIELDS",
		"imap://h/INBOX/;UID=1/;SECTION=HEADER.FIELDS%20()", "imap://h/INBOX/;UID=1/;SECTION=HEADER.FIELDS%20(a", "imap://h/INBOX/;UID=1/;SECTION=HEADER.FIELDS%20(a%0d)",
		"imap://h/INBOX/;UID=1/;SECTION=HEADER.FIELDS%20(a)%20b", "imap://h/INBOX/;UID=1/;SECTION=HEADER%20(a)", "imap://h/INBOX/;UID=1/;SECTION=" + strings.Repeat("1.", 40) + "1",
		"imap://h/INBOX/;UID=1/;PARTIAL=-1", "imap://h/INBOX/;UID=1/;PARTIAL=1.0", "imap://h/INBOX/;UID=1/;PARTIAL=1.2.3", "imap://h/INBOX/;UID=1/;PARTIAL=x",
		"imap://h/INBOX/;TYPE=LIST", "imap://h/?ALL", "imap://h/INBOX/;UID=1?ALL", "imap://h/INBOX?%22a", "imap://h/INBOX?(a", "imap://h/INBOX?a)", "imap://h/INBOX?a%0d%0aZ%20LOGOUT",
		"imap://h/INBOX?%22a%0d%22", "imap://h/INBOX?%22a%5Cb%22", "imap://h/INBOX?SUBJECT%20%7B3%2B%7D", "imap://h/INBOX?a%5Cb", "imap://h/INBOX?%ff", "imap://h/INBOX?" + strings.Repeat("(", 100) + strings.Repeat(")", 100),
		"imap://h/INBOX?" + strings.Repeat("a", maxProgram+1), "imap://x;AUTH=a%20b@h/", "imap://x;AUTH=@h/",
	} {
		if got, fault := planOf(t, Options{}, url); fault != "invalid-uri" && fault != "parse" {
			t.Errorf("%.80s: got %s, %s", url, got, fault)
		}
	}
	for url, want := range map[string]string{"imap://h/INBOX?": "need-query", "imap://h/INBOX?%20": "need-query", "imap://h/INBOX/;UID=1;URLAUTH=anonymous:internal:1": "unsupported"} {
		if got, fault := planOf(t, Options{}, url); fault != want {
			t.Errorf("%s: got %s, %s, want %s", url, got, fault, want)
		}
	}
}

func TestSearchURL(t *testing.T) {
	u := uri.MustParse("imap://bob@h/INBOX;UIDVALIDITY=3")
	found, err := searchURL(u, fetch.Search{Words: `green "tea (café`})
	if want := `imap://bob@h/INBOX;UIDVALIDITY=3?TEXT%20%22green%22%20TEXT%20%22%5C%22tea%22%20TEXT%20%22%28caf%C3%A9%22`; err != nil || found.Unredacted() != want {
		t.Errorf("got %s, %v, want %s", found.Unredacted(), err, want)
	}
	for _, c := range []struct {
		url, words string
		want       fetch.Fault
	}{{"imap://h/INBOX", " ", fetch.NeedQuery}, {"imap://h/", "tea", fetch.BadURL}, {"imap://h/INBOX/;UID=1", "tea", fetch.BadURL}, {"imap://h/INBOX", "a\nb\x00", fetch.BadURL}} {
		if got, err := searchURL(uri.MustParse(c.url), fetch.Search{Words: c.words}); fetch.FaultOf(err) != c.want {
			t.Errorf("%s %q: got %s, %v", c.url, c.words, got, err)
		}
	}
}

// TestEntryURLs tests that the URL of a mailbox entry names that mailbox for
// any mailbox name.
func TestEntryURLs(t *testing.T) {
	n := newNamer(uri.MustParse("imap://bob:s3cret@h:1430/INBOX?x#y"))
	for _, name := range []string{"INBOX", "a/b", "a/", "/a", "a//b", "..", "a/./b", "a;UID=1", "a?b#c", "100%", "日本", `"\`, " ", "a\x01b"} {
		for _, u := range []uri.URI{n.mailbox(name), n.message(&mailbox{name: name, validity: 3}, 7), n.message(&mailbox{name: name}, 7)} {
			if name != ".." { // normalization removes this segment even if it is escaped
				u = u.Normalize(uri.ByScheme)
			}
			l, err := parseLocator(u)
			if user, _ := u.Userinfo(); err != nil || l.mailbox != name || user != "bob" {
				t.Errorf("%q: %s names %q, %v", name, u.Unredacted(), l.mailbox, err)
			}
		}
	}
	if got, want := newNamer(uri.MustParse("imap://bob;AUTH=*:s3cret@h/")).mailbox("x").Unredacted(), "imap://bob;AUTH=*@h/x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := newNamer(uri.MustParse("imap://:s3cret@h/")).mailbox("x").Unredacted(), "imap://h/x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseMid(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"mid:960830.1639@XIson.com", "<960830.1639@XIson.com> "},
		{"mid:960830.1639@XIson.com/partA.960830.1639@XIson.com", "<960830.1639@XIson.com> partA.960830.1639@XIson.com"},
		{"mid:%3Ca@b%3E", "<a@b> "},
		{"mid:foo4%25foo1@bar.net", "<foo4%foo1@bar.net> "}, // RFC 2392 5 has an error in this example
		{"mid:a%2Fb@c/d%2Fe", "<a/b@c> d/e"},
		{"mid:a?b@c", "<a?b@c> "},
		{"mid:no-at", "<no-at> "},
		{"mid:", "invalid-uri"}, {"mid:/a", "invalid-uri"}, {"mid:a/", "invalid-uri"}, {"mid:a%20b", "invalid-uri"}, {"mid:a%0d%0ab@c", "invalid-uri"},
		{"mid:a%3Eb", "invalid-uri"}, {"mid:%ff@a", "invalid-uri"}, {"mid://h/a@b", "invalid-uri"}, {"mid:" + strings.Repeat("a", maxID+1), "invalid-uri"}, {"mid:a@b/c/d", "<a@b> c/d"},
	} {
		l, err := parseMid(uri.MustParse(test.url))
		got := l.messageID + " " + l.contentID
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.url, got, test.want)
		}
	}
}

func TestParseMailto(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"mailto:Chris@Example.com", "[chris@example.com]"},
		{"mailto:a@x,b@x?to=c@x&subject=hi&TO=d%2Ce@x", "invalid-uri"}, // "d,e@x" is not one address
		{"mailto:a@x,b@x?to=c@x&subject=hi", "[a@x b@x c@x]"},
		{"mailto:?to=a@x", "[a@x]"},
		{"mailto:gorby%25kremvax@example.com", "[gorby%kremvax@example.com]"},
		{"mailto:%22not%40me%22@example.org", "[not@me@example.org]"},
		{"mailto:", "invalid-uri"}, {"mailto:?subject=x", "invalid-uri"}, {"mailto:x", "invalid-uri"}, {"mailto://h/a@b", "invalid-uri"},
		{"mailto:a%0d%0aRCPT@x", "invalid-uri"}, {"mailto:A%20%3Ca@x%3E", "invalid-uri"}, {"mailto:" + strings.Repeat("a@x,", 30), "invalid-uri"},
	} {
		set, err := parseMailto(uri.MustParse(test.url))
		got := fmt.Sprint([]string(set))
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.url, got, test.want)
		}
	}
	if got, want := (addressSet{"a@x", "b@y"}).searchProgram(), `OR OR OR OR OR FROM "a@x" TO "a@x" CC "a@x" FROM "b@y" TO "b@y" CC "b@y"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a := addressSet{"bob@example.org"}
	for value, want := range map[string]bool{"Bob <BOB@example.org>": true, "jimbob@example.org": false, "a@b, bob@example.org (Bob)": true, "broken <bob@example.org": true, "": false, "undisclosed:;": false} {
		if got := a.matchesHeader(fetch.Header{{Name: "to", Value: value}}); got != want {
			t.Errorf("%q: got %t", value, got)
		}
	}
	if !slices.Equal(a, addressSet{"bob@example.org"}) {
		t.Error("changed")
	}
}

func TestIDSet(t *testing.T) {
	seen := idSet{}
	for i := range maxSeen + 10 {
		if !seen.add(fmt.Sprint(i)) {
			t.Fatalf("%d is not new", i)
		}
	}
	if seen.add("7") || !seen.add("") || !seen.add("") || len(seen) != maxSeen {
		t.Errorf("%d ids in the set, want %d", len(seen), maxSeen)
	}
}

// TestAddresses tests that names with special characters are quoted in an
// address list.
func TestAddresses(t *testing.T) {
	got := addresses([]imap.Address{{Name: "Bob", Mailbox: "bob", Host: "h"}, {Name: `Carl "C", Jr.`, Mailbox: "carl", Host: "h"}, {Mailbox: "eve", Host: "h"}, {Mailbox: "group"}})
	if want := `Bob <bob@h>, "Carl \"C\", Jr." <carl@h>, eve@h`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCredentialsWithNUL tests that credentials with NUL are rejected.
func TestCredentialsWithNUL(t *testing.T) {
	for _, text := range []string{"imap://eve%00bob:x@h/", "imap://bob:x%00y@h/", "imap://bob;AUTH=PLAIN:%00@h/"} {
		u := uri.MustParse(text)
		auth, err := sasl.ParseUserinfo(u)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := credentialsOf(&fetch.Request{URL: u, Auth: auth}, ""); fetch.FaultOf(err) != fetch.BadURL {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestEntryLength tests that the entry of a message with very long fields fits
// in a listing.
func TestEntryLength(t *testing.T) {
	long := strings.Repeat("\xff", 100_000)
	b := &imapclient.FetchMessageBuffer{UID: 7, Envelope: &imap.Envelope{Subject: long, MessageID: long,
		From: []imap.Address{{Name: long, Mailbox: "a", Host: "h"}}, To: []imap.Address{{Name: long, Mailbox: "a", Host: "h"}}}}
	e := newNamer(uri.MustParse("imap://h/")).messageEntry(&mailbox{name: "INBOX"}, b)
	if _, err := entries.Append(nil, e); err != nil {
		t.Error(err)
	}
}
