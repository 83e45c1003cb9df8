package apdu_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
)

// FuzzAPDU: a response is decoded or rejected, and the parts of a decoded one
// are within the limits.
func FuzzAPDU(f *testing.F) {
	text := ber.Primitive(ber.Universal, ber.GeneralString, []byte("text"))
	syntax := ber.Primitive(ber.Universal, ber.OID, ber.OIDValue(apdu.SUTRS))
	external := ber.SequenceOf(syntax, ber.Group(0, text))
	f.Add(ber.Group(21, ber.Truth(12, true), ber.Primitive(ber.Context, 3, []byte{5, 0xE0})))
	f.Add(ber.Group(23, ber.Number(23, 7), ber.Truth(22, true)))
	f.Add(ber.Group(25, ber.Group(28, ber.SequenceOf(ber.String(0, "db"), ber.Group(1, ber.Group(1, external))))))
	f.Add(ber.Group(25, ber.Group(205, ber.SequenceOf(syntax, ber.Primitive(ber.Universal, ber.Integer, []byte{9}), text))))
	f.Add(ber.Group(48, ber.Number(211, 3), ber.String(3, "bye")))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := apdu.Decode(b)
		if err != nil {
			return
		}
		if p, ok := p.(*apdu.PresentResponse); ok {
			for _, r := range p.Records {
				if len(r.Data) > len(b) || r.Diagnostic == nil && r.Data != nil && r.Syntax == "" {
					t.Errorf("%q became %+v", b, r)
				}
			}
		}
	})
}

// FuzzRequest: every request is one element with exactly its content.
func FuzzRequest(f *testing.F) {
	f.Add("db", "whale", "alice", "s3cret")
	f.Add("\xbf\x81", "\x00\x00", "", "")
	f.Fuzz(func(t *testing.T, database, text, user, password string) {
		login := apdu.Init{User: user, Password: password}
		search := apdu.Search{Set: "default", Databases: []string{database, database}, Terms: []apdu.Term{{Text: text, Use: 4}, {Text: text, Structure: 2}}}
		present := apdu.Present{Set: "default", First: 1, Count: 20, ElementSet: text, Syntax: apdu.XML}
		for tag, b := range map[uint32][]byte{20: login.Encode(), 22: search.Encode(), 24: present.Encode(), 48: apdu.AppendClose()} {
			e, rest, err := ber.Cut(b)
			if err != nil || len(rest) > 0 || !e.Is(tag) {
				t.Fatalf("%q: %v, %v, %d bytes more", b, e, err, len(rest))
			}
			if _, err := e.Children(100); err != nil {
				t.Fatalf("%q: %v", b, err)
			}
		}
	})
}
