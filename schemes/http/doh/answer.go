package doh

import (
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
)

// parse returns the addresses in an answer to a query. It follows CNAME records
// within the answer.
func parse(answer []byte, name dnsmessage.Name, kind dnsmessage.Type) ([]netip.Addr, error) {
	malformed := func(err error) error { return fetch.DNS.Errorf("malformed DNS answer for %s: %w", name, err) }
	var p dnsmessage.Parser
	head, err := p.Start(answer)
	if err != nil {
		return nil, malformed(err)
	}
	q, err := p.Question()
	switch {
	case err != nil:
		return nil, malformed(err)
	case !head.Response || !strings.EqualFold(q.Name.String(), name.String()) || q.Type != kind:
		return nil, fetch.DNS.Errorf("the DNS answer is not for %s", name)
	case head.RCode == dnsmessage.RCodeNameError:
		return nil, fetch.DNS.Errorf("no such host: %s", name)
	case head.RCode != dnsmessage.RCodeSuccess:
		return nil, fetch.DNS.Errorf("the DNS server answered %s for %s", head.RCode, name)
	}
	if err := p.SkipAllQuestions(); err != nil {
		return nil, malformed(err)
	}
	all := records{kind: kind, aliases: map[string]string{}, addrs: map[string][]netip.Addr{}}
	for range maxRecords {
		err := all.read(&p)
		if err == dnsmessage.ErrSectionDone {
			break
		}
		if err != nil {
			return nil, malformed(err)
		}
	}
	return all.find(name.String())
}

// records are the records of an answer, by the lower-case name of their owner.
type records struct {
	kind    dnsmessage.Type
	aliases map[string]string
	addrs   map[string][]netip.Addr
}

// read reads the next record. It returns dnsmessage.ErrSectionDone after the
// last one.
func (r *records) read(p *dnsmessage.Parser) error {
	h, err := p.AnswerHeader()
	if err != nil {
		return err
	}
	owner := strings.ToLower(h.Name.String())
	if h.Class != dnsmessage.ClassINET || h.Type != r.kind && h.Type != dnsmessage.TypeCNAME {
		return p.SkipAnswer()
	}
	switch h.Type {
	case dnsmessage.TypeCNAME:
		c, err := p.CNAMEResource()
		r.aliases[owner] = strings.ToLower(c.CNAME.String())
		return err
	case dnsmessage.TypeA:
		a, err := p.AResource()
		r.addrs[owner] = append(r.addrs[owner], netip.AddrFrom4(a.A))
		return err
	default:
		a, err := p.AAAAResource()
		r.addrs[owner] = append(r.addrs[owner], netip.AddrFrom16(a.AAAA))
		return err
	}
}

// find returns the addresses of a name. It returns none if the name or the last
// of its aliases has no record of the queried type.
func (r *records) find(name string) ([]netip.Addr, error) {
	at := strings.ToLower(name)
	for range maxAliases {
		if addrs := r.addrs[at]; len(addrs) > 0 {
			return addrs, nil
		}
		next, ok := r.aliases[at]
		if !ok {
			return nil, nil
		}
		at = next
	}
	return nil, fetch.DNS.Errorf("%s has a loop or too many CNAME records", name)
}
