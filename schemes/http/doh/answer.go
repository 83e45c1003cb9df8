package doh

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
)

// errNoName means that a name does not exist.
var errNoName = errors.New("no such host")

// parse returns the addresses in an answer to a query. It follows CNAME records
// within the answer.
func parse(answer []byte, name dnsmessage.Name, kind dnsmessage.Type) ([]netip.Addr, error) {
	all := records{kind: kind, aliases: map[string]string{}, addrs: map[string][]netip.Addr{}}
	if err := all.parse(answer, name); err != nil {
		return nil, err
	}
	at, err := all.end(name.String(), func(owner string) bool { return len(all.addrs[owner]) > 0 })
	return all.addrs[at], err
}

// records are the records of an answer, by the lower-case name of their owner.
type records struct {
	kind     dnsmessage.Type
	aliases  map[string]string
	addrs    map[string][]netip.Addr
	bindings map[string][]dnsmessage.SVCBResource // HTTPS records
	life     time.Duration                        // the shortest time to live of the HTTPS records
}

// parse reads the records of an answer to the query for name.
func (r *records) parse(answer []byte, name dnsmessage.Name) error {
	malformed := func(err error) error { return fetch.DNS.Errorf("malformed DNS answer for %s: %w", name, err) }
	var p dnsmessage.Parser
	head, err := p.Start(answer)
	if err != nil {
		return malformed(err)
	}
	q, err := p.Question()
	switch {
	case err != nil:
		return malformed(err)
	case !head.Response || !strings.EqualFold(q.Name.String(), name.String()) || q.Type != r.kind:
		return fetch.DNS.Errorf("the DNS answer is not for %s", name)
	case head.RCode == dnsmessage.RCodeNameError:
		return fetch.DNS.Errorf("%w: %s", errNoName, name)
	case head.RCode != dnsmessage.RCodeSuccess:
		return fetch.DNS.Errorf("the DNS server answered %s for %s", head.RCode, name)
	case head.Truncated && r.kind == dnsmessage.TypeHTTPS: // the keys of ECH may be missing
		return fetch.DNS.Errorf("the DNS answer for %s is truncated", name)
	}
	if err := p.SkipAllQuestions(); err != nil {
		return malformed(err)
	}
	for range maxRecords {
		err := r.read(&p)
		if err == dnsmessage.ErrSectionDone {
			break
		}
		if err != nil {
			return malformed(err)
		}
	}
	return nil
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
	case dnsmessage.TypeHTTPS:
		b, err := p.HTTPSResource()
		r.bindings[owner] = append(r.bindings[owner], b.SVCBResource)
		r.life = min(r.life, time.Duration(h.TTL)*time.Second)
		return err
	default:
		a, err := p.AAAAResource()
		r.addrs[owner] = append(r.addrs[owner], netip.AddrFrom16(a.AAAA))
		return err
	}
}

// end follows the aliases of a name to a name that has records. It returns the
// last alias if no name has any.
func (r *records) end(name string, has func(owner string) bool) (string, error) {
	at := strings.ToLower(name)
	for range maxAliases {
		next, ok := r.aliases[at]
		if !ok || has(at) {
			return at, nil
		}
		at = next
	}
	return "", fetch.DNS.Errorf("%s has a loop or too many CNAME records", name)
}
