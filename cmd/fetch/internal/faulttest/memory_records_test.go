//go:build linux

package faulttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/wire/ber"
)

// largeRecords checks the memory of fetch for the largest records and entries
// that servers can send in one message.
func largeRecords(t *testing.T, l *lab) {
	octets := func(s string) []byte { return ber.Primitive(ber.Universal, ber.OctetString, []byte(s)) }
	const large = 9<<20 - 1000
	binary := strings.Repeat("\xe9\x00", large/2)
	message := func(parts ...[]byte) string { return string(ber.SequenceOf(append([][]byte{{2, 1, 1}}, parts...)...)) }
	attribute := func(values ...[]byte) []byte {
		return ber.SequenceOf(ber.SequenceOf(octets("a"), ber.Constructed(ber.Universal, ber.Set, values...)))
	}
	var values [][]byte
	for range 190_000 {
		values = append(values, octets("a value of an attribute"))
	}
	done := message(ber.Constructed(ber.Application, 5, []byte{10, 1, 0}, octets(""), octets("")))
	accepted := string(ber.Group(21, ber.Truth(12, true)))
	found := string(ber.Group(23, ber.Number(23, 1), ber.Truth(22, true)))
	record := func(syntax, data string) string {
		external := ber.SequenceOf(ber.Primitive(ber.Universal, ber.OID, ber.OIDValue(syntax)), ber.Primitive(ber.Context, 1, []byte(data)))
		external[0] = 0x28
		return string(ber.Group(25, ber.Group(28, ber.SequenceOf(ber.Group(1, ber.Group(1, external))))))
	}
	// A MARC record in which many fields share the same bytes.
	entries := strings.Repeat("245900000000", 8000)
	marc := fmt.Sprintf("99999nam  22%05d   4500", 24+len(entries)+1) + entries + "\x1e" + strings.Repeat("\xe9", 10000)
	for _, c := range []struct {
		name, url string
		replies   []string
		code      int
	}{
		{"ldap, binary value", "ldap://%/dc=x", []string{message(ber.Constructed(ber.Application, 4, octets("dc=x"), attribute(octets(binary)))) + done}, 0},
		{"ldap, many values", "ldap://%/dc=x", []string{message(ber.Constructed(ber.Application, 4, octets("dc=x"), attribute(values...))) + done}, 0},
		{"ldap, name of an entry", "ldap://%/dc=x", []string{message(ber.Constructed(ber.Application, 4, octets(binary), attribute())) + done}, 7},
		{"z39.50s, SUTRS in ISO 8859-1", "z39.50s://%/db?x;n=1", []string{accepted, found, record("1.2.840.10003.5.101", binary)}, 0},
		{"z39.50s, overlapping MARC fields", "z39.50s://%/db?x;n=1", []string{accepted, found, record("1.2.840.10003.5.10", marc)}, 0},
		{"z39.50s, list of large records", "ls z39.50s://%/db?x", []string{accepted, found, record("1.2.840.10003.5.101", binary)}, 0},
	} {
		var script faultnet.Script
		for _, r := range c.replies {
			script = append(script, faultnet.Expect("(?s)^.+$"), faultnet.Send(r))
		}
		s := faultnet.Listen(t, append(script, faultnet.Stall()))
		args := append([]string{"--retry", "0"}, strings.Fields(strings.ReplaceAll(c.url, "%", s.Addr().String()))...)
		if args[2] == "ls" {
			args = append(args[2:], args[:2]...)
		}
		e, peak := l.measureMemory(t, args...)
		s.Close()
		t.Logf("%s: %d KiB in %v: exit code %d, %.200s", c.name, peak, e.Duration, e.Code, e.Stderr)
		if e.Code != c.code || peak > commandtest.MaxMemory {
			t.Errorf("%s: %v, %d KiB, want exit code %d and at most %d", c.name, e, peak, c.code, commandtest.MaxMemory)
		}
	}
}
