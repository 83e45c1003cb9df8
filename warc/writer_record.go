package warc

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
)

// validate returns an error if the record is invalid or would damage the file.
func (r *Record) validate() error {
	switch r.Type {
	case Response, Resource, Request, Metadata, Revisit, Conversion:
	default:
		return fetch.Usage.Errorf("record type %q is not allowed in a group", string(r.Type))
	}
	if r.URL.IsZero() && r.Type != Metadata {
		return fetch.Usage.Errorf("%s record has no URL", string(r.Type))
	}
	for _, u := range []uri.URI{r.URL, r.RefersTo.URL} {
		if !u.IsZero() && u.Scheme() == "" {
			return fetch.Usage.Errorf("URL %s has no scheme", u)
		}
	}
	for _, t := range []time.Time{r.Date, r.RefersTo.Date} {
		if y := t.UTC().Year(); y < 0 || y > 9999 {
			return fetch.Usage.Errorf("date %v cannot be written in a WARC file", t)
		}
	}
	if r.Type == Revisit && (r.Profile == "" || r.Profile == IdenticalPayload && r.PayloadDigest == "") {
		return fetch.Usage.Errorf("revisit record has no profile or no payload digest")
	}
	values := []string{
		r.ID, r.Media, r.Cipher, r.Truncated, r.Profile,
		r.RefersTo.ID, r.BlockDigest, r.PayloadDigest,
	}
	for _, text := range append(values, r.Protocols...) {
		if !singleLine(text) {
			return fetch.Usage.Errorf("%q contains a line break or NUL, which header fields cannot contain", text)
		}
	}
	missing := r.BlockDigest == "" || r.PayloadDigest == "" && r.Type == Resource
	if _, seekable := r.Body.(io.Seeker); r.Body != nil && !seekable && missing {
		return fetch.Usage.Errorf("a body that can be read only once requires precomputed digests")
	}
	for _, f := range r.Fields {
		if isReserved(f.Name) {
			return fetch.Usage.Errorf("header field %s is reserved for the Writer", f.Name)
		}
	}
	return checkFields(r.Fields)
}

// isReserved reports whether the header field with this name must not be in
// [Record.Fields]. The Writer sets such a field, or a reader would find a
// different record. WARC-Concurrent-To and WARC-Protocol may be repeated.
func isReserved(name string) bool {
	switch name = strings.ToLower(name); name {
	case "content-type", "content-length", "warc-type", "warc-record-id", "warc-warcinfo-id", "warc-date",
		"warc-target-uri", "warc-ip-address", "warc-cipher-suite", "warc-profile", "warc-refers-to",
		"warc-refers-to-target-uri", "warc-refers-to-date", "warc-block-digest", "warc-payload-digest", "warc-truncated":
		return true
	}
	return strings.HasPrefix(name, "warc-segment-")
}

func checkFields(fields fetch.Header) error {
	for _, f := range fields {
		if !http1.ValidName(f.Name) || !singleLine(f.Value) {
			return fetch.Usage.Errorf("invalid header field %q: %q", f.Name, f.Value)
		}
	}
	return nil
}

// setDigests sets Size and the missing digests of a record whose Body is an
// io.ReadSeeker, and returns the digester. It reads the body into buffer, unless
// the body is a summedBlock. Other bodies are not read, because validate requires
// their digests.
func (r *Record) setDigests(a Algorithm, buffer []byte) (*digester, error) {
	t := r.Type
	if t == Request { // gets no payload digest, so that parsing the message is unnecessary
		t = Metadata
	}
	d := newDigester(a, t)
	switch body := r.Body.(type) {
	case nil:
		r.Size = 0
	case io.ReadSeeker:
		if block, payload, ok := sumsOf(body, a); ok && r.Type == Response {
			r.BlockDigest, r.PayloadDigest = cmp.Or(r.BlockDigest, block), cmp.Or(r.PayloadDigest, payload)
		}
		if err := r.digestBody(body, d, buffer); err != nil {
			return nil, fetch.LocalError(err)
		}
	default: // validate has checked that the digests are set
		return d, nil
	}
	if r.BlockDigest == "" {
		r.BlockDigest = d.Block()
	}
	if r.PayloadDigest == "" {
		r.PayloadDigest = d.Payload()
	}
	return d, nil
}

// digestBody writes the block to d, sets r.Size and restores the position of
// body. It skips the interim responses (1xx) at the start of a response.
func (r *Record) digestBody(body io.ReadSeeker, d *digester, buffer []byte) error {
	start, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if r.BlockDigest != "" && (r.PayloadDigest != "" || d.noPayload) { // only the size is unknown
		r.Size, err = body.Seek(0, io.SeekEnd)
		r.Size -= start
	} else {
		_, err = io.CopyBuffer(d, body, buffer)
		r.Size = d.Size()
	}
	if err != nil {
		return err
	}
	if r.Type == Response && d.message.Interim() > 0 {
		_, err = body.Seek(start+d.message.Interim(), io.SeekStart)
		if err != nil {
			return err
		}
		*d = *newDigester(d.algorithm, r.Type)
		return r.digestBody(body, d, buffer)
	}
	_, err = body.Seek(start, io.SeekStart)
	return err
}

// appendHead appends the header of the record and a blank line to b.
func (r *Record) appendHead(b []byte, info string, concurrent []*Record) []byte {
	b = append(b, "WARC/1.1\r\n"...)
	b = appendField(b, "WARC-Type", string(r.Type))
	b = appendID(b, "WARC-Record-ID", r.ID)
	b = appendID(b, "WARC-Warcinfo-ID", info)
	b = appendField(b, "WARC-Date", formatDate(r.Date))
	b = appendField(b, "WARC-Target-URI", targetURI(r.URL))
	if r.IP.IsValid() {
		b = appendField(b, "WARC-IP-Address", r.IP.WithZone("").Unmap().String())
	}
	for _, p := range r.Protocols {
		b = appendField(b, "WARC-Protocol", p)
	}
	b = appendField(b, "WARC-Cipher-Suite", r.Cipher)
	for _, c := range concurrent {
		b = appendID(b, "WARC-Concurrent-To", c.ID)
	}
	b = appendField(b, "WARC-Profile", r.Profile)
	b = appendID(b, "WARC-Refers-To", r.RefersTo.ID)
	if r.Type == Revisit {
		b = appendField(b, "WARC-Refers-To-Target-URI", targetURI(r.RefersTo.URL))
		if !r.RefersTo.Date.IsZero() {
			// The date has whole seconds, as in an index. ReplayWeb.page finds
			// a later capture if the date has a fraction.
			b = appendField(b, "WARC-Refers-To-Date", formatDate(r.RefersTo.Date.Truncate(time.Second)))
		}
	}
	b = appendField(b, "WARC-Block-Digest", r.BlockDigest)
	b = appendField(b, "WARC-Payload-Digest", r.PayloadDigest)
	b = appendField(b, "WARC-Truncated", r.Truncated)
	for _, f := range r.Fields {
		b = appendField(b, f.Name, f.Value)
	}
	b = appendField(b, "Content-Type", r.Media)
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, r.Size, 10)
	return append(b, "\r\n\r\n"...)
}

// concurrentTo returns the records of the group that record i lists in its
// WARC-Concurrent-To fields.
func concurrentTo(group []*Record, i int) []*Record {
	if len(group) == 1 || group[i].Fields.Get("WARC-Concurrent-To") != "" {
		return nil
	}
	if i == 0 {
		return group[1:]
	}
	return group[:1]
}

// formatDate formats t as a WARC-Date in UTC (WARC 1.1 section 5.4). It omits
// trailing zeros of the fraction.
func formatDate(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z") }

// targetURI returns the value of WARC-Target-URI for u. It removes the fragment
// and the password.
func targetURI(u uri.URI) string {
	u = u.WithoutFragment()
	name, _, secret := u.User()
	if !secret {
		return u.Unredacted()
	}
	p := u.Parts()
	p.Userinfo = name
	v, err := uri.Build(p)
	if err != nil { // Build rejects the zone identifier
		return u.WithoutUserinfo().Unredacted()
	}
	return v.Unredacted()
}

// newID returns a random UUID as a URN, such as "urn:uuid:..." (RFC 9562
// section 5.4).
func newID() string {
	var u [16]byte
	rand.Read(u[:]) // never returns an error
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	b := make([]byte, 0, 45)
	b = append(b, "urn:uuid:"...)
	for i, n := range []int{4, 6, 8, 10, 16} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, u[[]int{0, 4, 6, 8, 10}[i]:n])
	}
	return string(b)
}

func algorithmOf(digest string) Algorithm {
	if strings.HasPrefix(digest, "sha256:") {
		return SHA256
	}
	return SHA1
}
