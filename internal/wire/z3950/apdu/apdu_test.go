package apdu_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
)

// TestEncode compares requests with the bytes of the standard. Spaces separate
// the elements.
func TestEncode(t *testing.T) {
	short := apdu.Init{MessageSize: 1 << 20, RecordSize: 127}
	login := apdu.Init{User: "u", Password: "pw", MessageSize: 1, RecordSize: 128}
	title := apdu.Search{Set: "s", Databases: []string{"a", "b"}, Terms: []apdu.Term{{Text: "x", Use: 4, Structure: 1}}}
	terms := apdu.Search{Set: "s", Databases: []string{"a"}, Terms: []apdu.Term{{Text: "x"}, {Text: "y", Use: 1032}}}
	all := apdu.Present{Set: "s", First: 3, Count: 2, ElementSet: "F", Syntax: apdu.SUTRS}
	none := apdu.Present{Set: "s", First: 1, Count: 1}
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"init without a login", short.Encode(), "b41e 830205e0 840301c002 8503100000 86017f 9f6e023831 9f6f056665746368"},
		{"init with a login", login.Encode(), "b428 830205e0 840301c002 850101 86020080 a709 3007 810175 82027077 9f6e023831 9f6f056665746368"},
		{"search in two databases, with both attributes", title.Encode(), "b646 8d0100 8e0101 8f0100 9001ff 910173 " +
			"b208 9f690161 9f690162 b52b a129 06072a8648ce130301 a01e bf661b bf2c14 3008 9f780101 9f790104 3008 9f780104 9f790101 9f2d0178"},
		{"search for two terms", terms.Encode(), "b64c 8d0100 8e0101 8f0100 9001ff 910173 b204 9f690161 " +
			"b535 a133 06072a8648ce130301 a128 a00a bf6607 bf2c00 9f2d0178 a015 bf6612 bf2c0b 3009 9f780101 9f79020408 9f2d0179 bf2e02 8000"},
		{"present", all.Encode(), "b819 9f1f0173 9e0103 9d0102 b303800146 9f6807 2a8648ce130565"},
		{"present as the server prefers", none.Encode(), "b80a 9f1f0173 9e0101 9d0101"},
		{"close", apdu.AppendClose(), "bf3005 9f815301 00"},
	} {
		if got, want := hex.EncodeToString(c.got), strings.ReplaceAll(c.want, " ", ""); got != want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, want)
		}
	}
}

// The parts of the responses in TestDecode.
var (
	general = func(text string) []byte { return ber.Primitive(ber.Universal, ber.GeneralString, []byte(text)) }
	oid     = func(dotted string) []byte { return ber.Primitive(ber.Universal, ber.OID, ber.OIDValue(dotted)) }
	integer = func(n int64) []byte { return ber.Primitive(ber.Universal, ber.Integer, ber.IntValue(n)) }

	// named is a record of the database db with the given choice of its content.
	named   = func(choice ...[]byte) []byte { return ber.SequenceOf(ber.String(0, "db"), ber.Group(1, choice...)) }
	usmarc  = ber.Constructed(ber.Universal, ber.External, oid(apdu.USMARC), ber.String(1, "marc"))
	sutrs   = ber.Constructed(ber.Universal, ber.External, oid(apdu.SUTRS), ber.Group(0, general("text")))
	grs     = ber.Constructed(ber.Universal, ber.External, oid(apdu.GRS1), ber.Group(0, general("x")))
	problem = ber.SequenceOf(oid("1.2.840.10003.4.1"), integer(14), general("why"))
)

const bib1 = "1.2.840.10003.4.1"

// TestDecode checks every field of the responses.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		want apdu.Response
	}{
		{"init of version 3", ber.Group(21, ber.Primitive(ber.Context, 3, []byte{5, 0xE0}), ber.Primitive(ber.Context, 4, []byte{1, 0xC0, 0x02}),
			ber.Number(5, 1000), ber.Number(6, 2000), ber.Truth(12, true), ber.String(111, "server"), ber.String(112, "1.0")),
			&apdu.InitResponse{Accepted: true, Version: 3, NamedSets: true, MessageSize: 1000, RecordSize: 2000, Name: "server", Release: "1.0"}},
		{"init of version 1, refused", ber.Group(21, ber.Primitive(ber.Context, 3, []byte{7, 0x80}), ber.Truth(12, false)), &apdu.InitResponse{Version: 1}},
		{"init without named sets", ber.Group(21, ber.Primitive(ber.Context, 4, []byte{1, 0xC0, 0x00})), &apdu.InitResponse{}},
		{"search", ber.Group(23, ber.Number(23, 300), ber.Truth(22, true)), &apdu.SearchResponse{Count: 300, OK: true}},
		{"search with a diagnostic", ber.Group(23, ber.Truth(22, false), ber.Group(130, oid(bib1), integer(109), general("db"))),
			&apdu.SearchResponse{Diagnostics: []apdu.Diagnostic{{Set: bib1, Code: 109, Info: "db"}}}},
		{"search with two diagnostics", ber.Group(23, ber.Group(205, problem, problem)),
			&apdu.SearchResponse{Diagnostics: []apdu.Diagnostic{{Set: bib1, Code: 14, Info: "why"}, {Set: bib1, Code: 14, Info: "why"}}}},
		{"records", ber.Group(25, ber.Group(28, named(ber.Group(1, usmarc)), named(ber.Group(1, sutrs)), named(ber.Group(1, grs)))),
			&apdu.PresentResponse{Records: []apdu.Record{{Database: "db", Syntax: apdu.USMARC, Data: []byte("marc")},
				{Database: "db", Syntax: apdu.SUTRS, Data: []byte("text")}, {Database: "db", Syntax: apdu.GRS1, Data: general("x")}}}},
		{"diagnostic instead of a record", ber.Group(25, ber.Group(28, named(ber.Group(2, problem)))),
			&apdu.PresentResponse{Records: []apdu.Record{{Database: "db", Diagnostic: &apdu.Diagnostic{Set: bib1, Code: 14, Info: "why"}}}}},
		{"diagnostic of unknown format", ber.Group(25, ber.Group(28, named(ber.Group(2, usmarc)))),
			&apdu.PresentResponse{Records: []apdu.Record{{Database: "db", Diagnostic: &apdu.Diagnostic{}}}}},
		{"close", ber.Group(48, ber.Number(211, 3), ber.String(3, "bye")), &apdu.Close{Reason: 3, Text: "bye"}},
		{"access control", ber.Group(28), &apdu.AccessControl{}},
		{"fields of other classes", ber.Group(23, integer(7), ber.Number(23, 5)), &apdu.SearchResponse{Count: 5}},
	} {
		got, err := apdu.Decode(c.in)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// TestMalformed checks that a damaged response is an error.
func TestMalformed(t *testing.T) {
	present := func(record ...[]byte) []byte { return ber.Group(25, ber.Group(28, record...)) }
	for name, in := range map[string][]byte{
		"nothing":                     {},
		"byte after the message":      append(ber.Group(28), 0),
		"universal tag":               ber.SequenceOf(),
		"unknown tag":                 ber.Group(99),
		"field without its content":   ber.Group(23, []byte{0x97, 5, 1}),
		"number of nine bytes":        ber.Group(23, ber.Primitive(ber.Context, 23, make([]byte, 9))),
		"truth of two bytes":          ber.Group(23, ber.Primitive(ber.Context, 22, []byte{1, 1})),
		"text within nothing":         ber.Group(48, []byte{0xA3, 1, 0}),
		"records are primitive":       ber.Group(25, ber.Primitive(ber.Context, 28, []byte{1})),
		"record is primitive":         present(ber.Primitive(ber.Universal, ber.Sequence, []byte{1})),
		"name is damaged":             present(ber.SequenceOf([]byte{0xA0, 1, 0})),
		"record without a choice":     present(named()),
		"record with two choices":     present(named(ber.Group(1, usmarc), ber.Group(1, usmarc))),
		"choice without content":      present(named(ber.Group(1))),
		"unknown choice":              present(named(ber.Group(3, usmarc))),
		"record without a syntax":     present(named(ber.Group(1, ber.Constructed(ber.Universal, ber.External, ber.String(1, "x"))))),
		"record without content":      present(named(ber.Group(1, ber.Constructed(ber.Universal, ber.External, oid(apdu.XML))))),
		"SUTRS without text":          present(named(ber.Group(1, ber.Constructed(ber.Universal, ber.External, oid(apdu.SUTRS), ber.Group(0))))),
		"diagnostics are primitive":   ber.Group(23, ber.Primitive(ber.Context, 205, []byte{1})),
		"code of nine bytes":          ber.Group(23, ber.Group(130, ber.Primitive(ber.Universal, ber.Integer, make([]byte, 9)))),
		"diagnostic with a bad name":  ber.Group(23, ber.Group(130, ber.Primitive(ber.Universal, ber.OID, []byte{0x80}))),
		"more than 1,000 records":     present(bytes.Repeat(named(ber.Group(1, usmarc)), 1001)),
		"more than 100 fields":        ber.Group(23, bytes.Repeat(ber.Truth(22, true), 101)),
		"more than 100 record fields": present(ber.SequenceOf(bytes.Repeat(ber.String(0, "db"), 101))),
	} {
		if p, err := apdu.Decode(in); err == nil || name != "nothing" && !errors.Is(err, ber.ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for name, in := range map[string][]byte{
		"1,000 records": present(bytes.Repeat(named(ber.Group(1, usmarc)), 1000)),
		"100 fields":    ber.Group(23, bytes.Repeat(ber.Truth(22, true), 100)),
	} {
		if _, err := apdu.Decode(in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
