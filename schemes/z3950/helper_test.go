package z3950_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/z3950"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func schemes() []fetch.Scheme { return z3950.Schemes(z3950.Options{}) }

// session and record are the beginnings of URLs in tests.
const (
	session = "z39.50s://192.0.2.1/"
	record  = "z39.50r://192.0.2.1/"
)

// serve starts a server in memory and returns a client for it.
func serve(t testing.TB, scripts ...faultnet.Script) (*fetch.Client, *faultnet.Server) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("192.0.2.1:210", scripts...)
	return schemetest.NewClient(t, schemes(), func(o *fetch.Options) { o.Dial = n.Dial }), s
}

// readRequest waits for a message of the client.
var readRequest = faultnet.Expect("(?s)^.+$")

// oid returns an encoded object identifier.
func oid(dotted string) []byte { return ber.Primitive(ber.Universal, ber.OID, ber.OIDValue(dotted)) }

// initOK is the reply of a server of version 3 with named result sets.
func initOK() string {
	return string(ber.Group(21, ber.Primitive(ber.Context, 3, []byte{5, 0xE0}), ber.Primitive(ber.Context, 4, []byte{1, 0xC0, 2}),
		ber.Number(5, 1<<20), ber.Number(6, 1<<20), ber.Truth(12, true), ber.String(111, "test\x1b server")))
}

// found is the reply to a search that finds n records.
func found(n int64) string {
	return string(ber.Group(23, ber.Number(23, n), ber.Number(24, 0), ber.Number(25, 1), ber.Truth(22, true)))
}

// rejected is the reply to a search that fails with a Bib-1 diagnostic.
func rejected(code int64, info string) string {
	return string(ber.Group(23, ber.Number(23, 0), ber.Truth(22, false), diagnostic(130, code, info)))
}

func diagnostic(tag uint32, code int64, info string) []byte {
	return ber.Group(tag, oid("1.2.840.10003.4.1"), ber.Primitive(ber.Universal, ber.Integer, ber.IntValue(code)),
		ber.Primitive(ber.Universal, ber.VisibleString, []byte(info)))
}

// octets is a record whose content is bytes.
func octets(syntax, data string) []byte {
	return external(oid(syntax), ber.Primitive(ber.Context, 1, []byte(data)))
}

// external is a record with the given parts of an EXTERNAL.
func external(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	e := ber.SequenceOf(all)
	e[0] = 0x28 // EXTERNAL, constructed
	return ber.SequenceOf(ber.String(0, "Default"), ber.Group(1, ber.Group(1, e)))
}

// sutrs is a record of plain text.
func sutrs(text string) []byte {
	return external(oid(apdu.SUTRS), ber.Group(0, ber.Primitive(ber.Universal, ber.GeneralString, []byte(text))))
}

// missing is a diagnostic in place of a record.
func missing(code int64, info string) []byte {
	d := diagnostic(0, code, info)
	d[0] = 0x30 // SEQUENCE
	return ber.SequenceOf(ber.Group(1, ber.Group(2, d)))
}

// records is the reply to a Present.
func records(all ...[]byte) string {
	return string(ber.Group(25, ber.Number(24, int64(len(all))), ber.Number(27, 0), ber.Group(28, all...)))
}

// answers is a script of replies to Init and further messages.
func answers(replies ...string) (s faultnet.Script) {
	s = faultnet.Script{readRequest, faultnet.Send(initOK())}
	for _, r := range replies {
		s = append(s, readRequest, faultnet.Send(r))
	}
	return s
}
