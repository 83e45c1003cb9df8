package z3950_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
)

// one is the URL of a record whose script follows Init.
const one = record + "Default?x;rs=sutrs"

// TestFaults checks the fault and the time limit for each error of a server or
// the network.
func TestFaults(t *testing.T) {
	const soon = time.Second
	closing := string(ber.Group(48, ber.Number(211, 1), ber.String(3, "back\x1b[2J soon")))
	nested := strings.Repeat("\xb9\x80", 50)
	for _, c := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
		took        time.Duration
	}{
		{"refused", faultnet.Script{faultnet.Refuse()}, "connect", "", soon},
		{"closed before Init is answered", faultnet.Script{readRequest}, "connect", "", soon},
		{"silent at Init", faultnet.Script{readRequest, faultnet.Stall()}, "timeout", "", 2 * time.Minute},
		{"Init is rejected", faultnet.Script{readRequest, faultnet.Send(string(ber.Group(21, ber.Truth(12, false))))}, "auth", "", soon},
		{"a line of text", faultnet.Script{readRequest, faultnet.Send("HTTP/1.1 400 Bad Request\r\n\r\n")}, "truncated", "", soon},
		{"a search reply to Init", faultnet.Script{readRequest, faultnet.Send(found(1))}, "protocol", "", soon},
		{"access control", faultnet.Script{readRequest, faultnet.Send(string(ber.Group(28)))}, "auth", "", soon},
		{"closed by the server", answers(closing), "server-temp", "", soon},
		{"cut in a search", answers(found(1)[:5]), "truncated", "", soon},
		{"database unavailable", answers(rejected(109, "db\x1b[2J")), "not-found", "", soon},
		{"temporary system error", answers(rejected(2, "")), "server-temp", "", soon},
		{"unknown diagnostic", answers(rejected(99999, "x")), "server-perm", "", soon},
		{"access denied", answers(rejected(236, "")), "auth", "", soon},
		{"negative count", answers(found(-3)), "protocol", "", soon},
		{"no hit", answers(found(0)), "not-found", "", soon},
		{"no record", answers(found(1), records()), "protocol", "", soon},
		{"two records for one", answers(found(1), records(sutrs("a"), sutrs("b"))), "protocol", "", soon},
		{"diagnostic for a record", answers(found(1), records(missing(14, "x"))), "server-perm", "", soon},
		{"present is rejected", answers(found(1), string(ber.Group(25, diagnostic(130, 13, "")))), "not-found", "", soon},
		{"record without content", answers(found(1), records(external(oid(apdu.SUTRS)))), "protocol", "", soon},
		{"a record", answers(found(1), records(sutrs("text\n"))), "ok", "text\n", soon},
		{"simpler attributes", answers(rejected(114, "1032"), rejected(114, "1032"), found(1), records(sutrs("text\n"))), "ok", "text\n", soon},
		{"no attributes at all", answers(rejected(114, ""), rejected(114, ""), rejected(114, "")), "server-perm", "", soon},
		{"16 GiB announced", answers("\xb9\x85\x04\x00\x00\x00\x00"), "protocol", "", soon},
		{"1 GiB announced", answers("\xb9\x84\x40\x00\x00\x00"), "protocol", "", soon},
		{"nested without end", answers(nested), "protocol", "", soon},
		{"invalid length", answers("\xb9\xff"), "protocol", "", soon},
		{"endless tag", answers("\xbf" + strings.Repeat("\xff", 100)), "protocol", "", soon},
		{"GRS-1 with an implicitly tagged subtree", answers(found(1), records(external(oid(apdu.GRS1), ber.Group(0, ber.SequenceOf(
			ber.SequenceOf(ber.Number(1, 2), ber.Group(2, ber.Number(2, 1)), ber.Group(4, ber.Group(6, ber.SequenceOf(ber.Number(1, 2)))))))))), "protocol", "", soon},
		{"GRS-1 of wrong elements", answers(found(1), records(external(oid(apdu.GRS1), ber.Group(0, ber.SequenceOf(ber.String(4, "x")))))), "protocol", "", soon},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := serve(t, c.script)
				schemetest.Exchange(t.Context(), client, schemetest.NewRequest(t, one)).Check(t, c.fault, c.body, c.took)
				client.Close()
				s.Close()
			})
		})
	}
}

// TestPlaintext checks the note about a password, which is never encrypted.
func TestPlaintext(t *testing.T) {
	for name, auth := range map[string]*fetch.Credential{"": nil, "the password was sent in plaintext": {User: "a", Password: "secret"}} {
		client, _ := serve(t, answers(found(1), records(sutrs("text\n"))))
		req, notes := schemetest.NewRequest(t, one), ""
		req.Auth, req.Trace = auth, &trace.Trace{Note: func(text string) { notes += text }}
		resp, err := client.Do(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); notes != name {
			t.Errorf("got notes %q, want %q", notes, name)
		}
	}
}

// TestListFaults checks the entries before an error of a listing.
func TestListFaults(t *testing.T) {
	var batch [][]byte
	for range 20 {
		batch = append(batch, sutrs("title\ntext"))
	}
	full := records(batch...)
	for _, c := range []struct {
		name    string
		script  faultnet.Script
		fault   string
		entries int
	}{
		{"closed in the middle", answers(found(30), full), "truncated", 20},
		{"rejected in the middle", answers(found(30), full, string(ber.Group(25, diagnostic(130, 2, "")))), "server-temp", 20},
		{"fewer than requested", answers(found(2), records(sutrs("a")), records(sutrs("b"))), "ok", 2},
		{"a diagnostic among the records", answers(found(2), records(sutrs("a"), missing(14, "x"))), "ok", 2},
		{"no hit", answers(found(0)), "ok", 0},
	} {
		client, _ := serve(t, c.script)
		all, err := schemetest.List(t, client, session+"Default?x;rs=sutrs")
		fault := "ok"
		if err != nil {
			fault = fetch.FaultOf(err).String()
		}
		if fault != c.fault || len(all) != c.entries {
			t.Errorf("%s: got %d entries, %v", c.name, len(all), err)
		}
	}
}

// TestStaleSession retries a request if the server has closed an idle session.
func TestStaleSession(t *testing.T) {
	text := records(sutrs("text"))
	client, s := serve(t, answers(found(1), text), answers(found(1), text))
	for range 2 {
		if _, body, err := schemetest.Read(t, client, one); err != nil || body != "text" {
			t.Errorf("got %q, %v", body, err)
		}
	}
	if n := len(s.Conns()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestGeneric shows GRS-1 records as text.
func TestGeneric(t *testing.T) {
	leaf := func(tag int64, content []byte) []byte {
		return ber.SequenceOf(ber.Number(1, 2), ber.Group(2, ber.Number(2, tag)), ber.Group(4, content))
	}
	subtree := func(all ...[]byte) []byte { return ber.Group(6, ber.SequenceOf(all...)) }
	universal := func(tag uint32, s string) []byte { return ber.Primitive(ber.Universal, tag, []byte(s)) }
	named := ber.SequenceOf(ber.Number(1, 3), ber.Group(2, ber.String(1, "pu\x1bblisher")), ber.Group(4, universal(ber.GeneralString, "P\nQ\n")))
	tree := ber.SequenceOf(
		leaf(1, universal(ber.GeneralString, "Whales")), leaf(7, universal(ber.Integer, "\x01\x00")), named,
		leaf(9, subtree(leaf(2, universal(ber.OctetString, "inner")), leaf(3, ber.Primitive(ber.Context, 2, nil)),
			leaf(4, subtree(leaf(5, universal(ber.GeneralString, "innermost")))))),
		leaf(10, ber.Group(1, ber.Number(1, 12), ber.Group(2, ber.Group(3, ber.String(1, "km"))))),
		leaf(11, ber.Group(5, oid(apdu.SUTRS))), leaf(12, ber.Constructed(ber.Universal, ber.External, oid(apdu.SUTRS))))
	grs := records(external(oid(apdu.GRS1), ber.Group(0, tree)))
	client, _ := serve(t, answers(found(1), grs, grs))
	_, body, err := schemetest.Read(t, client, record+"Default?x;rs=grs-1")
	want := "(2,1) Whales\n(2,7) 256\n(3,pu blisher) P\n    Q\n(2,9)\n    (2,2) inner\n    (2,3) (not there)\n    (2,4)\n        (2,5) innermost\n" +
		"(2,10) 12 km\n(2,11) (diagnostic)\n(2,12) (external data)\n"
	if err != nil || body != want {
		t.Errorf("got %q, %v, want %q", body, err, want)
	}
	client, _ = serve(t, answers(found(1), grs))
	all, err := schemetest.List(t, client, session+"Default?x;rs=grs-1")
	if err != nil || len(all) != 1 || all[0].Name != "Whales" {
		t.Errorf("got %+v, %v", all, err)
	}
}

// TestLogin sends the credential in Init, and masks it in the trace.
func TestLogin(t *testing.T) {
	client, s := serve(t, answers(found(1), records(sutrs("text"))))
	if _, _, err := schemetest.Read(t, client, "z39.50r://alice:s3cret@192.0.2.1/Default?x"); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if sent := string(s.Conns()[0].All()); !strings.Contains(sent, "\x81\x05alice\x82\x06s3cret") {
		t.Errorf("sent %q", sent)
	}
}
