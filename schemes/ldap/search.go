package ldap

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/ber"
	"github.com/anyurl/fetch/uri"
)

// A search reads the entries that a server sends as LDIF.
type search struct {
	locator
	lease *lease
	req   *fetch.Request

	cookie []byte // of the page
	out    bytes.Buffer
	values []value // of the current entry, not yet written
	done   bool    // the result was read
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

// request requests a page of the entries.
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

// redirect returns the URL to which a referral leads: the first ldap URL, with
// the parts of the URL of the request in place of missing parts (RFC 4511
// 4.1.10).
func (e *search) redirect(referrals []string) (uri.URI, error) {
	for _, text := range referrals {
		if u, ok := e.complete(text); ok {
			return u, nil
		}
	}
	return uri.URI{}, fetch.Protocol.With(errNotFollowed)
}

// complete returns the URL of a referral.
func (e *search) complete(text string) (uri.URI, bool) {
	u, err := uri.Parse(text)
	if err != nil || u.Scheme() != "ldap" && u.Scheme() != "ldaps" || u.Host() == "" {
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

// Read returns the LDIF of the entries.
func (e *search) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if err := e.fill(); err != nil {
			return 0, err
		}
	}
	return e.out.Read(p)
}

// fill adds the next line of LDIF to out. Only one value is converted at a time,
// because an entry can be large.
func (e *search) fill() error {
	if len(e.values) > 0 {
		v := e.values[0]
		e.values = e.values[1:]
		v.write(&e.out)
		return nil
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

// handle processes a response of the server.
func (e *search) handle(m message) (err error) {
	switch m.op.Tag {
	case opEntry:
		e.values, err = entryValues(m.op)
	case opReference:
		var urls []string
		urls, err = parseURLs(m.op)
		for _, text := range urls {
			e.values = append(e.values, value{kind: comment, text: []byte(text)})
		}
	case opSearchDone:
		return e.finish(m)
	default:
		err = malformed("operation %d in a search", m.op.Tag)
	}
	if err != nil {
		e.lease.Session.Break()
	}
	return wireFault(err)
}

// finish processes the result of a search. It requests the next page if there is
// one.
func (e *search) finish(m message) error {
	r, err := parseResult(m.op)
	if err != nil {
		e.lease.Session.Break()
		return wireFault(err)
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
		e.lease.Session.Break()
		return wireFault(err)
	case len(cookie) == 0 || e.req.Op == fetch.Stat:
		e.done = true
		return nil
	}
	e.cookie = cookie
	return e.request()
}

// entryValues returns the values of an entry, beginning with its DN.
func entryValues(op ber.Element) (all []value, err error) {
	parts, err := op.Children(2)
	if err != nil {
		return nil, err
	}
	if len(parts) != 2 {
		return nil, malformed("entry of %d parts", len(parts))
	}
	attributes, err := parts[1].Children(maxParts)
	if err != nil {
		return nil, err
	}
	all = append(all, value{kind: dn, text: parts[0].Value})
	for _, a := range attributes {
		pair, err := a.Children(2)
		if err != nil {
			return nil, err
		}
		if len(pair) != 2 || !isAttribute(string(pair[0].Value)) {
			return nil, malformed("attribute of %d parts with an invalid name", len(pair))
		}
		values, err := pair[1].Children(maxValues)
		if err != nil {
			return nil, err
		}
		if len(all)+len(values) > maxValues {
			return nil, malformed("entry of more than %d values", maxValues)
		}
		for _, v := range values {
			all = append(all, value{name: string(pair[0].Value), text: v.Value})
		}
	}
	return all, nil
}
