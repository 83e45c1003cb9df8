package ldap

import (
	"bytes"
	"fmt"

	"github.com/anyurl/fetch/internal/wire/ber"
)

// The application tags of operations (RFC 4511).
const (
	opBindRequest     = 0
	opBindResponse    = 1
	opUnbind          = 2
	opSearchRequest   = 3
	opEntry           = 4
	opSearchDone      = 5
	opReference       = 19
	opExtendedRequest = 23
	opExtended        = 24
	opIntermediate    = 25
)

const (
	maxMessage = 10 << 20 // bytes of a message of the server
	maxURLs    = 100      // URLs of a reference

	startTLSName = "1.3.6.1.4.1.1466.20037"
	pagedResults = "1.2.840.113556.1.4.319" // RFC 2696
	pageSize     = 500
)

func octets(s string) []byte { return ber.Primitive(ber.Universal, ber.OctetString, []byte(s)) }

func number(tag uint32, n int64) []byte { return ber.Primitive(ber.Universal, tag, ber.IntValue(n)) }

// operation returns an encoded operation with the given parts.
func operation(tag uint32, parts ...[]byte) []byte {
	return ber.Constructed(ber.Application, tag, parts...)
}

// encode returns the encoded message of an operation. The controls may be nil.
func encode(id int64, op, controls []byte) []byte {
	return ber.SequenceOf(number(ber.Integer, id), op, controls)
}

// bindRequest returns the operation that logs in with a password.
func bindRequest(dn, password string) []byte {
	return operation(opBindRequest, number(ber.Integer, 3), octets(dn), ber.String(0, password))
}

// searchRequest returns the operation that searches for the entries of a URL.
func (l locator) searchRequest(attributes []string) []byte {
	var all [][]byte
	for _, a := range attributes {
		all = append(all, octets(a))
	}
	return operation(opSearchRequest, octets(l.dn), number(ber.Enumerated, int64(l.scope)),
		number(ber.Enumerated, 0), // aliases are not followed
		number(ber.Integer, 0), number(ber.Integer, 0),
		ber.Primitive(ber.Universal, ber.Boolean, []byte{0}), l.filter, ber.SequenceOf(all...))
}

// pageControl returns the controls that request one page of the search results.
func pageControl(cookie []byte) []byte {
	value := ber.SequenceOf(number(ber.Integer, pageSize), ber.Primitive(ber.Universal, ber.OctetString, cookie))
	return ber.Group(0, ber.SequenceOf(octets(pagedResults), octets(string(value))))
}

// A message is a decoded message of the server.
type message struct {
	id       int64
	op       ber.Element
	controls ber.Element // the zero Element if the message has no controls
}

func parseMessage(b []byte) (m message, err error) {
	e, _, err := ber.Cut(b)
	if err != nil {
		return m, err
	}
	parts, err := e.Children(3)
	if err != nil {
		return m, err
	}
	if !e.IsUniversal(ber.Sequence) || len(parts) < 2 || parts[1].Class != ber.Application {
		return m, malformed("message %v of %d parts", e, len(parts))
	}
	if m.id, err = parts[0].Int(); err != nil {
		return m, err
	}
	if m.op = parts[1]; len(parts) == 3 {
		m.controls = parts[2]
	}
	return m, nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ber.ErrMalformed, fmt.Sprintf(format, args...))
}

// A result is the outcome of an operation.
type result struct {
	code      int64
	matched   string // the part of the DN that exists
	text      string // explanation for people
	referrals []string
}

func parseResult(op ber.Element) (r result, err error) {
	parts, err := op.Children(20)
	if err != nil {
		return r, err
	}
	if len(parts) < 3 {
		return r, malformed("result of %d parts", len(parts))
	}
	if r.code, err = parts[0].Int(); err != nil {
		return r, err
	}
	r.matched, r.text = string(parts[1].Value), string(parts[2].Value)
	for _, p := range parts[3:] {
		if p.Is(3) {
			if r.referrals, err = parseURLs(p); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// parseURLs decodes the URLs of a reference. A URL of more than maxText bytes is
// truncated to a URL that is too long.
func parseURLs(e ber.Element) (urls []string, err error) {
	all, err := e.Children(maxURLs)
	for _, u := range all {
		urls = append(urls, string(u.Value[:min(len(u.Value), maxText+1)]))
	}
	return urls, err
}

// parseCookie returns a copy of the cookie of the next page, or nil after the last
// page.
func parseCookie(controls ber.Element) ([]byte, error) {
	if controls.Value == nil {
		return nil, nil
	}
	all, err := controls.Children(20)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		parts, err := c.Children(3)
		if err != nil {
			return nil, err
		}
		if len(parts) < 2 || string(parts[0].Value) != pagedResults {
			continue
		}
		value, _, err := ber.Cut(parts[len(parts)-1].Value)
		if err != nil {
			return nil, err
		}
		page, err := value.Children(2)
		if err != nil {
			return nil, err
		}
		if len(page) != 2 || len(page[1].Value) > maxText {
			return nil, malformed("control of pages with %d parts", len(page))
		}
		return bytes.Clone(page[1].Value), nil
	}
	return nil, nil
}
