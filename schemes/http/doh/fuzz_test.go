package doh

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// FuzzParse checks that answers of any form are rejected or give addresses.
func FuzzParse(f *testing.F) {
	name := dnsmessage.MustNewName("host.test.")
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true},
		Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
		Answers: []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: name, Type: dnsmessage.TypeCNAME, Class: dnsmessage.ClassINET},
			Body: &dnsmessage.CNAMEResource{CNAME: name}}}}
	b, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, answer []byte) {
		addrs, err := parse(answer, name, dnsmessage.TypeA)
		if err != nil && addrs != nil || len(addrs) > maxRecords {
			t.Errorf("got %v, %v", addrs, err)
		}
		found, err := parseServices(answer, name)
		if err == nil {
			if all := found.endpoints("host.test", 443); len(all) > maxServices {
				t.Errorf("got %d services", len(all))
			}
		}
	})
}
