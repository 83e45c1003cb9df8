package whois

import (
	"bufio"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// FuzzReferral checks that a referral leads to the same record of a server.
func FuzzReferral(f *testing.F) {
	for _, text := range []string{"refer: whois.example\n", "ReferralServer: whois://h:43/\n", "refer: a/b?c\n", "refer: u@h\n", "refer: [::1]", "%x\nnot found"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		res, err := examine(bufio.NewReaderSize(strings.NewReader(text), 1<<10))
		if err != nil {
			t.Fatal(err)
		}
		u := res.location(&fetch.Request{URL: uri.MustParse("whois://h/a%20b")})
		if _, user := u.Userinfo(); !u.IsZero() && (u.Scheme() != "whois" || u.Path() != "/a%20b" || u.Host() == "" || user) {
			t.Errorf("%q: %s", text, u)
		}
		if res.fault != nil && strings.ContainsAny(res.fault.Error(), "\r\n\x1b") {
			t.Errorf("%q", res.fault)
		}
	})
}
