package warc

import (
	"crypto/rand"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/uri"
)

// check refuses what would be no record, or more than one.
func (r *Record) check() error {
	switch r.Type {
	case Response, Resource, Request, Metadata, Revisit, Conversion:
	default:
		return fetch.Usage.Errorf("a group has no record of type %q", string(r.Type))
	}
	if r.URL.IsZero() && r.Type != Metadata {
		return fetch.Usage.Errorf("%s record without a URL", string(r.Type))
	}
	if r.Type == Revisit && (r.Profile == "" || r.Profile == SamePayload && r.PayloadDigest == "") {
		return fetch.Usage.Errorf("revisit record without profile or digest")
	}
	for _, text := range append([]string{r.ID, r.Media, r.Cipher, r.Truncated, r.Identified, r.Profile, r.RefersTo.ID, r.BlockDigest, r.PayloadDigest}, r.Protocols...) {
		if !plain(text) {
			return fetch.Usage.Errorf("%q cannot stand in a field", text)
		}
	}
	if _, again := r.Body.(io.Seeker); r.Body != nil && !again && (r.BlockDigest == "" || r.PayloadDigest == "" && r.Type == Resource) {
		return fetch.Usage.Errorf("a block that can be read only once comes without its digests")
	}
	return checkFields(r.Fields)
}

func checkFields(fields fetch.Header) error {
	for _, f := range fields {
		if !http1.ValidName(f.Name) || !plain(f.Value) {
			return fetch.Usage.Errorf("%q: %q is no field", f.Name, f.Value)
		}
	}
	return nil
}

// digest sets Size and the digests where they are to be made.
func (r *Record) digest(a Algorithm) error {
	d := NewDigester(a, r.Type)
	switch body := r.Body.(type) {
	case nil:
		r.Size = 0
	case io.ReadSeeker:
		if err := r.look(body, d); err != nil {
			return local(err)
		}
	default: // check has seen that all is known
		return nil
	}
	if r.BlockDigest == "" {
		r.BlockDigest = d.Block()
	}
	if r.PayloadDigest == "" && r.Type != Request {
		r.PayloadDigest = d.Payload()
	}
	return nil
}

// look reads a block from where it stands into d, and goes back. Interim
// answers before that of an exchange are passed over.
func (r *Record) look(body io.ReadSeeker, d *Digester) error {
	start, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if r.BlockDigest != "" && (r.PayloadDigest != "" || d.none) { // all is known but the size
		r.Size, err = body.Seek(0, io.SeekEnd)
		r.Size -= start
	} else {
		_, err = io.Copy(d, body)
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
		*d = *NewDigester(d.algorithm, r.Type)
		return r.look(body, d)
	}
	_, err = body.Seek(start, io.SeekStart)
	return err
}

// appendHead writes the head of r: version, fields, blank line.
func (r *Record) appendHead(b []byte, info string, concurrent []*Record) []byte {
	b = append(b, "WARC/1.1\r\n"...)
	b = appendField(b, "WARC-Type", string(r.Type))
	b = appendID(b, "WARC-Record-ID", r.ID)
	b = appendID(b, "WARC-Warcinfo-ID", info)
	b = appendField(b, "WARC-Date", formatDate(r.Date))
	b = appendField(b, "WARC-Target-URI", target(r.URL))
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
		b = appendField(b, "WARC-Refers-To-Target-URI", target(r.RefersTo.URL))
		if !r.RefersTo.Date.IsZero() {
			b = appendField(b, "WARC-Refers-To-Date", formatDate(r.RefersTo.Date))
		}
	}
	b = appendField(b, "WARC-Block-Digest", r.BlockDigest)
	b = appendField(b, "WARC-Payload-Digest", r.PayloadDigest)
	b = appendField(b, "WARC-Identified-Payload-Type", r.Identified)
	b = appendField(b, "WARC-Truncated", r.Truncated)
	for _, f := range r.Fields {
		b = appendField(b, f.Name, f.Value)
	}
	b = appendField(b, "Content-Type", r.Media)
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, r.Size, 10)
	return append(b, "\r\n\r\n"...)
}

// concurrent is what record i of a group names as WARC-Concurrent-To.
func concurrent(group []*Record, i int) []*Record {
	if len(group) == 1 || group[i].Fields.Get("WARC-Concurrent-To") != "" {
		return nil
	}
	if i == 0 {
		return group[1:]
	}
	return group[:1]
}

// formatDate writes a date with the digits it has (WARC 1.1 section 5.4).
func formatDate(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z") }

// target is what a record says of u: no fragment, which names nothing that was
// fetched, and no password.
func target(u uri.URI) string {
	u = u.WithoutFragment()
	name, _, secret := u.User()
	if !secret {
		return u.Unredacted()
	}
	p := u.Parts()
	p.Userinfo = name
	v, err := uri.Build(p)
	if err != nil { // a zone identifier is none that Build takes
		return u.WithoutUserinfo().Unredacted()
	}
	return v.Unredacted()
}

// newID makes an identifier of random bits (RFC 9562 section 5.4).
func newID() string {
	var u [16]byte
	rand.Read(u[:]) // never fails
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
