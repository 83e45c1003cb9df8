package ldap

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/uri"
)

// A search reads the entries that a server sends, and converts them to LDIF.
type search struct {
	locator
	lease *lease
	req   *fetch.Request

	cookie []byte // cookie of the requested page
	out    bytes.Buffer
	done   bool  // the final result was read
	err    error // first error of fill

	// The part of the current message that is not converted yet.
	value      value
	name       string // name of the attribute to which values belong
	values     []byte // encoded in BER
	attributes []byte // encoded in BER
	references []string
}

// start sends the search and reads the first response. If the result is a
// referral, start sets resp.Location.
func (e *search) start(resp *fetch.Response) error {
	if err := e.request(); err != nil {
		return err
	}
	m, err := e.lease.Session.receive()
	if err != nil {
		return err
	}
	if m.op.Tag == opSearchDone {
		r, err := parseResult(m.op)
		if err == nil && r.code == ldap.LDAPResultReferral {
			resp.Location, err = e.redirect(r.referrals)
			e.done = err == nil
			return err
		}
		if err == nil && r.code == 0 && e.scope == base {
			return fetch.NotFound.Errorf("the entry does not match the filter, or access to the entry is denied")
		}
	}
	if e.req.Op != fetch.Stat {
		e.out.WriteString("version: 1\n")
	}
	return e.handle(m)
}

// request sends the search request for the next page of entries.
func (e *search) request() error {
	var controls []byte
	if e.scope != base && e.req.Op != fetch.Stat {
		controls = pageControl(e.cookie)
	}
	op := e.searchRequest(e.requested(e.req))
	return e.lease.Session.send(op, op, controls)
}

// errNotFollowed is the error for a referral without a usable URL.
var errNotFollowed = errors.New("the server refers to another server without an ldap URL")

// redirect returns the URL to which a referral leads, which is the first ldap
// URL. Missing parts are taken from the URL of the request (RFC 4511 4.1.10).
func (e *search) redirect(referrals []string) (uri.URI, error) {
	for _, text := range referrals {
		if u, ok := e.complete(text); ok {
			return u, nil
		}
	}
	return uri.URI{}, fetch.Protocol.With(errNotFollowed)
}

// complete parses the URL of a referral and adds missing parts. It returns
// false if the URL is not usable.
func (e *search) complete(text string) (uri.URI, bool) {
	u, err := uri.Parse(text)
	if err != nil || len(text) > maxText || u.Scheme() != "ldap" && u.Scheme() != "ldaps" || u.Host() == "" {
		return u, false
	}
	u = u.WithoutUserinfo().WithoutFragment()
	if strings.Trim(u.Path(), "/") == "" {
		if u, err = u.WithPath("/" + escapeDN(e.dn)); err != nil {
			return u, false
		}
	}
	if _, ok := u.Query(); !ok {
		if asked, ok := e.req.URL.Query(); ok {
			if u, err = u.WithQuery(asked); err != nil {
				return u, false
			}
		}
	}
	_, err = locate(u)
	return u, err == nil
}

// Read returns the LDIF of the entries. It does not wait for the network if it
// has data.
func (e *search) Read(p []byte) (int, error) {
	for e.err == nil && (e.out.Len() == 0 || e.out.Len() < len(p) && e.isReady()) {
		e.err = e.fill()
	}
	if e.out.Len() == 0 {
		return 0, e.err
	}
	return e.out.Read(p)
}

// isReady reports whether a part of the next data has already arrived.
func (e *search) isReady() bool {
	return e.value.begin != "" || len(e.values)+len(e.attributes)+len(e.references) > 0 ||
		!e.done && e.lease.Session.In.Buffered() > 0
}

// fill adds the next part of the LDIF to out. Only a part of one value is
// converted at a time, because an entry can be large.
func (e *search) fill() error {
	if e.value.more(&e.out) {
		return nil
	}
	if more, err := e.nextValue(); more || err != nil {
		return err
	}
	if e.done {
		return io.EOF
	}
	m, err := e.lease.Session.receive()
	if err != nil {
		return err
	}
	return e.handle(m)
}

// nextValue starts the conversion of the next value of the current message. It
// returns false at the end of the message.
func (e *search) nextValue() (more bool, err error) {
	switch {
	case len(e.values) > 0:
		var v ber.Element
		if v, e.values, err = ber.Cut(e.values); err == nil {
			e.value = newValue(e.name, v.Value)
		}
	case len(e.attributes) > 0:
		var a ber.Element
		if a, e.attributes, err = ber.Cut(e.attributes); err == nil {
			e.name, e.values, err = parseAttribute(a)
		}
	case len(e.references) > 0:
		e.out.WriteString("\n" + reference + escapeReference(e.references[0]) + "\n")
		e.references = e.references[1:]
	default:
		return false, nil
	}
	return true, e.lease.Session.Failed(err)
}

// handle processes a response of the server.
func (e *search) handle(m message) (err error) {
	switch m.op.Tag {
	case opEntry:
		err = e.begin(m.op)
	case opReference:
		e.references, err = parseURLs(m.op)
	case opSearchDone:
		return e.finish(m)
	default:
		err = malformed("operation %d in a search", m.op.Tag)
	}
	return e.lease.Session.Failed(err)
}

// finish processes the result of a search. It requests the next page if there is
// one.
func (e *search) finish(m message) error {
	r, err := parseResult(m.op)
	if err != nil {
		return e.lease.Session.Failed(err)
	}
	switch r.code {
	case 0:
	case ldap.LDAPResultSizeLimitExceeded, ldap.LDAPResultAdminLimitExceeded:
		return fetch.Denied.Errorf("the entries are incomplete: %w", r.fault())
	default:
		return r.fault()
	}
	cookie, err := parseCookie(m.controls)
	switch {
	case err != nil:
		return e.lease.Session.Failed(err)
	case len(cookie) == 0 || e.req.Op == fetch.Stat:
		e.done = true
		return nil
	}
	e.cookie = cookie
	return e.request()
}

// begin starts the conversion of an entry. The first value is its DN.
func (e *search) begin(op ber.Element) error {
	parts, err := op.Children(2)
	if err != nil {
		return err
	}
	if len(parts) != 2 || !parts[1].Constructed || len(parts[0].Value) > maxText {
		return malformed("entry of %d parts, or with a name that is too long", len(parts))
	}
	e.out.WriteByte('\n')
	e.value, e.attributes = newValue(dnName, parts[0].Value), parts[1].Value
	return nil
}

// parseAttribute returns the name and the encoded values of an attribute.
func parseAttribute(a ber.Element) (name string, values []byte, err error) {
	pair, err := a.Children(2)
	if err != nil {
		return "", nil, err
	}
	if len(pair) != 2 || !pair[1].Constructed || !isAttribute(string(pair[0].Value)) {
		return "", nil, malformed("attribute of %d parts, or with an invalid name", len(pair))
	}
	return string(pair[0].Value), pair[1].Value, nil
}
