package mailserver_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mailserver"
)

// TestPlan checks the message for each form of URL, and that it is never sent.
func TestPlan(t *testing.T) {
	c := schemetest.NewClient(t, mailserver.Schemes())
	for url, want := range map[string]string{
		"mailserver:list@h.example/help/":                       "To: list@h.example; Subject: help; body",
		"mailserver:list@h.example":                             "To: list@h.example; Subject:",
		"mailserver:list@h.example//send%20a%2Fb/quit":          "To: list@h.example; Subject:; body send a/b; body quit",
		"mailserver:list@h.example/a%0D%0ABcc:%20x@y.example/b": "invalid-uri: control character in a mailserver URL: write / for a line end of the body",
		"mailserver:a@b,c@d/x/y":                                "invalid-uri: mailserver URL must be mailserver:ADDRESS/SUBJECT/BODY",
		"mailserver:list/x/y":                                   "invalid-uri: mailserver URL must be mailserver:ADDRESS/SUBJECT/BODY",
		"mailserver://h/list@h/x/y":                             "invalid-uri: mailserver URL must be mailserver:ADDRESS/SUBJECT/BODY",
		"mailserver:a@b/x?y":                                    "invalid-uri: mailserver URL must be mailserver:ADDRESS/SUBJECT/BODY",
	} {
		req := schemetest.NewRequest(t, url)
		got := schemetest.Plan(mailserver.Schemes()[0], req)
		if got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
		fault := fetch.Unsupported
		if strings.HasPrefix(want, "invalid") {
			fault = fetch.BadURL
		}
		if _, err := c.Do(t.Context(), req); fetch.FaultOf(err) != fault {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

// FuzzPlan checks that no URL adds a line to the message.
func FuzzPlan(f *testing.F) {
	schemetest.FuzzPlan(f, mailserver.Schemes()[0], "a@b/c/d/e", "a@b/%0a/c", "@", "a@b//")
}
