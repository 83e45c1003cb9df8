package browser

import (
	"encoding/json"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestCookies checks which cookies of a profile a request has.
func TestCookies(t *testing.T) {
	const bank = `"Name":"n","Value":"v","Domain":"bank.example","Path":"/"`
	const page, other, subdomain = "https://bank.example/", "https://evil.example/", "https://www.bank.example/"
	for _, c := range []struct {
		name, cookie, url, from string
		part, sent              bool
	}{
		{"seed", `{` + bank + `,"SameSite":"Strict"}`, page, "", false, true},
		{"same site", `{` + bank + `,"SameSite":"Strict"}`, page, subdomain, true, true},
		{"other scheme", `{` + bank + `,"SameSite":"Strict"}`, page, "http://bank.example/", true, false},
		{"strict, followed", `{` + bank + `,"SameSite":"Strict"}`, page, other, false, false},
		{"lax, followed", `{` + bank + `,"SameSite":"Lax"}`, page, other, false, true},
		{"lax, embedded", `{` + bank + `,"SameSite":"Lax"}`, page, other, true, false},
		{"no attribute, followed", `{` + bank + `}`, page, other, false, true},
		{"no attribute, embedded", `{` + bank + `}`, page, other, true, false},
		{"none, embedded", `{` + bank + `,"SameSite":"None","Secure":true}`, page, other, true, true},
		{"none without secure, embedded", `{` + bank + `,"SameSite":"None"}`, page, other, true, false},
		{"addresses are other sites", `{"Name":"n","Domain":"127.0.0.2","Path":"/"}`, "http://127.0.0.2/", "http://10.0.0.2/", true, false},
		{"IPv6", `{"Name":"n","Domain":"[::1]","Path":"/","SameSite":"Strict"}`, "http://[::1]:8080/", "http://[::1]/", true, true},
		{"secure, http", `{` + bank + `,"Secure":true}`, "http://bank.example/", "", false, false},
		{"expired", `{` + bank + `,"Expires":1000.5}`, page, "", false, false},
		{"session", `{` + bank + `,"Expires":-1}`, page, "", false, true},
		{"own partition", `{` + bank + `,"PartitionKey":{"topLevelSite":"https://bank.example"}}`, page, "", false, true},
		{"partition of another site", `{` + bank + `,"SameSite":"None","Secure":true,"PartitionKey":{"topLevelSite":"https://evil.example"}}`, page, "", false, false},
		{"from a listing of another scheme", `{` + bank + `}`, page, "ftp://bank.example/", true, false},
	} {
		b := &Browser{current: &instance{cookies: []json.RawMessage{json.RawMessage(c.cookie)}}}
		u, from := uri.MustParse(c.url), uri.URI{}
		if c.from != "" {
			from = uri.MustParse(c.from)
		}
		if sent := b.Cookies(u, RelationOf(u, from, c.part)) != ""; sent != c.sent {
			t.Errorf("%s: sent: %v, want %v", c.name, sent, c.sent)
		}
	}
}
