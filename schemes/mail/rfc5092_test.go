package mail

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/uri"
)

// TestRFC5092 tests the example URLs of RFC 5092 sections 6, 7, 9 and 11. The
// commands use EXAMINE in place of SELECT.
func TestRFC5092(t *testing.T) {
	for _, test := range []struct{ url, login, want string }{
		{"imap://minbari.example.org/gray-council;UIDVALIDITY=385759045/;UID=20/;PARTIAL=0.1024",
			"AUTHENTICATE ANONYMOUS (else LOGIN)", "EXAMINE gray-council / UID FETCH 20 BODY.PEEK[]<0.1024>"},
		{"imap://psicorp.example.org/~peter/%E6%97%A5%E6%9C%AC%E8%AA%9E/%E5%8F%B0%E5%8C%97",
			"AUTHENTICATE ANONYMOUS (else LOGIN)", "EXAMINE ~peter/日本語/台北 / UID FETCH 1:* " + summaryItems},
		{"imap://;AUTH=GSSAPI@minbari.example.org/gray-council/;uid=20/;section=1.2",
			"AUTHENTICATE GSSAPI ***", "EXAMINE gray-council / UID FETCH 20 BODY.PEEK[1.2.MIME] / UID FETCH 20 BODY.PEEK[1.2]"},
		{"imap://;AUTH=*@minbari.example.org/gray%20council?SUBJECT%20shadows",
			"AUTHENTICATE *** (else LOGIN)", "EXAMINE gray council / UID SEARCH SUBJECT shadows / UID FETCH found " + summaryItems},
		{"imap://john;AUTH=*@minbari.example.org/babylon5/personel?charset%20UTF-8%20SUBJECT%20%7B14+%7D%0D%0A%D0%98%D0%B2%D0%B0%D0%BD%D0%BE%D0%B2%D0%B0",
			"AUTHENTICATE *** (else LOGIN)", "EXAMINE babylon5/personel / UID SEARCH charset UTF-8 SUBJECT \"Иванова\" / UID FETCH found " + summaryItems},
		{"imap://michael@example.org/INBOX", "AUTHENTICATE *** (else LOGIN)", "EXAMINE INBOX / UID FETCH 1:* " + summaryItems},
		{"imap://bester@example.org/INBOX", "AUTHENTICATE *** (else LOGIN)", "EXAMINE INBOX / UID FETCH 1:* " + summaryItems},
		{"imap://joe@example.com/INBOX/;uid=20/;section=1.2;urlauth=submit+fred:internal:91354a473744909de610943775f92038", "", "unsupported"},
		{"imap://joe@example.com/INBOX/;uid=20/;section=1.2;expire=2006-12-19T16:39:57-08:00;urlauth=anonymous:internal", "", "unsupported"},
		{"imap://joe@example.com/INBOX/;uid=20?SUBJECT%20x", "", "invalid-uri"},
	} {
		u := uri.MustParse(test.url)
		auth, err := sasl.ParseUserinfo(u)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := Options{}.plan(&fetch.Request{URL: u, Auth: auth}, true)
		if err != nil {
			if got := fetch.FaultOf(err).String(); got != test.want {
				t.Errorf("%s: got %v, want %s", u, err, test.want)
			}
			continue
		}
		got := ""
		for i, s := range steps[2:] {
			if i > 0 {
				got += " / "
			}
			got += s.String()
		}
		if got != test.want || steps[1].String() != test.login {
			t.Errorf("%s\n got %s, %s\nwant %s, %s", u, steps[1], got, test.login, test.want)
		}
	}
	base := uri.MustParse("imap://minbari.example.org/gray-council;UIDVALIDITY=385759045/;uid=20/;section=1.2")
	for ref, want := range map[string]string{
		";section=1.4":                      "imap://minbari.example.org/gray-council;UIDVALIDITY=385759045/;uid=20/;section=1.4",
		"/foo/;UID=20/..":                   "imap://minbari.example.org/foo/",
		"//example.com/inbox/;uid=1":        "imap://example.com/inbox/;uid=1",
		"../;uid=21":                        "imap://minbari.example.org/gray-council;UIDVALIDITY=385759045/;uid=21",
		"imap://example.com/INBOX/;uid=255": "imap://example.com/INBOX/;uid=255",
	} {
		r, err := uri.ParseReference(ref)
		if err == nil {
			r, err = base.Resolve(r)
		}
		if got := r.Unredacted(); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", ref, got, err, want)
		}
	}
}

// TestSearchLiterals tests literals in search programs.
func TestSearchLiterals(t *testing.T) {
	for text, want := range map[string]string{
		"SUBJECT {3+}\r\ntea":         `SUBJECT "tea"`,
		"SUBJECT {3+}\r\nteaNEW":      `SUBJECT "tea" NEW`,
		"SUBJECT {0+}\r\n NEW":        `SUBJECT "" NEW`,
		"(FROM {5+}\r\na b\"))":       `(FROM "a b\")")`,
		"SUBJECT {3+}\r\n{3+":         `SUBJECT "{3+"`,
		"SUBJECT {2+}\r\né":           "CHARSET UTF-8 SUBJECT {2+}\r\né",
		"SUBJECT {1+}\r\né":           "",
		"SUBJECT {3}\r\ntea":          "",
		"SUBJECT {4+}\r\ntea":         "",
		"SUBJECT {4+}\r\nt\r\na":      "",
		"SUBJECT {3+}\ntea":           "",
		"SUBJECT {-3+}\r\ntea":        "",
		"SUBJECT {99999999+}\r\ntea":  "",
		"SUBJECT tea\r\nZ LOGOUT":     "",
		"SUBJECT x{3+}\r\ntea":        "",
		"SUBJECT {3+}\r\ntea\r\nZ OK": "",
	} {
		got := ""
		p, err := parseProgram(text)
		if err == nil {
			got, _ = p.encode(maxProgram)
		}
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}
