// Package guard decides how far the gateway trusts a request for a live page. It
// signs the links of pages and classifies the origin of requests. It uses no
// network and stores nothing.
package guard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Level expresses how far the URL of a request is trusted.
type Level uint8

const (
	Public    Level = iota // treated as a link from a page of an unknown public server
	Link                   // a link from a page that the gateway displayed
	Entered                // the user entered the URL
	Confirmed              // the user entered the URL and confirmed that its server is private
)

// A Permission combines the trust in the URL of a request with the page that
// contains the link. Source is that page if Level is Link.
type Permission struct {
	Level  Level
	Source fetch.Source

	// AnyQuery extends the permission to all queries of the URL, for the target
	// of a form. It has an effect only if Level is Link.
	AnyQuery bool
}

// A Key signs links and tokens. It rejects links and tokens that another Key
// signed.
type Key struct{ secret [32]byte }

// NewKey returns a random Key.
func NewKey() *Key {
	k := new(Key)
	rand.Read(k.secret[:]) // never returns an error
	return k
}

// A kind is the first byte of a signature.
type kind byte

const (
	kindLink      kind = 'l'
	kindForm      kind = 'f' // a link with any query
	kindEntered   kind = 'e'
	kindConfirmed kind = 'c'
)

// macSize is the size of a message authentication code in bytes.
const macSize = 16

// encoding is the encoding of signatures and tokens. It uses only letters,
// digits, "-" and "_".
var encoding = base64.RawURLEncoding.Strict()

// macLength is the length of an encoded message authentication code.
var macLength = encoding.EncodedLen(macSize)

// Sign returns a signature that grants the permission p to requests for the URL
// target. It contains the source of the link. It returns "" for the level
// Public, which needs no signature.
func (k *Key) Sign(p Permission, target uri.URI) string {
	var of kind
	source := ""
	switch p.Level {
	case Link:
		of, source = kindLink, encodeSource(p.Source)
		if p.AnyQuery {
			of = kindForm
		}
	case Entered:
		of = kindEntered
	case Confirmed:
		of = kindConfirmed
	default:
		return ""
	}
	return string(of) + k.mac(of, source, targetText(of, target)) + encoding.EncodeToString([]byte(source))
}

// Verify returns the permission that a signature grants to requests for the URL
// target. It returns false if the Key did not sign this permission.
func (k *Key) Verify(signature string, target uri.URI) (p Permission, ok bool) {
	if len(signature) < 1+macLength {
		return p, false
	}
	of, mac := kind(signature[0]), signature[1:1+macLength]
	source, err := encoding.DecodeString(signature[1+macLength:])
	if err != nil || !hmac.Equal([]byte(mac), []byte(k.mac(of, string(source), targetText(of, target)))) {
		return p, false
	}
	switch of {
	case kindLink, kindForm:
		p.Level, p.AnyQuery = Link, of == kindForm
		p.Source, ok = decodeSource(string(source))
		return p, ok
	case kindEntered:
		return Permission{Level: Entered}, true
	case kindConfirmed:
		return Permission{Level: Confirmed}, true
	}
	return p, false
}

// mac returns the message authentication code of a kind and two texts. The
// length of the first text separates it from the second.
func (k *Key) mac(of kind, first, second string) string {
	h := hmac.New(sha256.New, k.secret[:])
	text := binary.BigEndian.AppendUint64([]byte{byte(of)}, uint64(len(first)))
	h.Write(append(append(text, first...), second...))
	return encoding.EncodeToString(h.Sum(nil)[:macSize])
}

// targetText returns the part of a URL that a signature covers. It omits the
// fragment, and the query if the URL is the target of a form.
func targetText(of kind, target uri.URI) string {
	text, _, _ := strings.Cut(target.Unredacted(), "#")
	if of == kindForm {
		text, _, _ = strings.Cut(text, "?")
	}
	return text
}

// encodeSource returns a Source as text, without userinfo and fragment.
func encodeSource(s fetch.Source) string {
	peer := ""
	if s.Peer.IsValid() {
		peer = s.Peer.String()
	}
	return peer + " " + s.URL.WithoutUserinfo().WithoutFragment().Unredacted()
}

func decodeSource(text string) (s fetch.Source, ok bool) {
	peer, url, ok := strings.Cut(text, " ")
	if !ok {
		return s, false
	}
	if peer != "" {
		var err error
		if s.Peer, err = netip.ParseAddr(peer); err != nil {
			return s, false
		}
	}
	u, err := uri.ParseZone(url)
	s.URL = u
	return s, err == nil
}

// A Purpose restricts a token to one use.
type Purpose string

const (
	FormToken  Purpose = "form"  // a form of the gateway
	StartToken Purpose = "start" // the address that the program prints at its start
)

// LoginToken returns the Purpose of the token of the forms that change the
// logins of a session.
func LoginToken(session string) Purpose { return Purpose("login " + session) }

// sessionToken returns the Purpose of the token in the cookie of a session.
func sessionToken(session string) Purpose { return Purpose("session " + session) }

// sessionSize is the number of random bytes in the name of a session.
const sessionSize = 16

// NewSession returns the cookie of a new session, for a browser that has opened
// the address that the program prints at its start.
func (k *Key) NewSession() (cookie string) {
	var random [sessionSize]byte
	rand.Read(random[:]) // never returns an error
	session := encoding.EncodeToString(random[:])
	return session + k.Token(sessionToken(session))
}

// Session returns the name of the session of a cookie. It returns false if the
// Key has not made the cookie.
func (k *Key) Session(cookie string) (session string, ok bool) {
	n := encoding.EncodedLen(sessionSize)
	if len(cookie) != n+macLength || !k.ValidToken(sessionToken(cookie[:n]), cookie[n:]) {
		return "", false
	}
	return cookie[:n], true
}

// PartToken returns the Purpose of the token for images, style sheets and
// scripts of the pages of an archive. Each archive has its own token, so that its
// pages cannot use the tokens of other archives.
func PartToken(archive string) Purpose { return Purpose("part " + archive) }

// kindToken is the first byte of the authenticated text of a token.
const kindToken kind = 't'

// Token returns the token for a purpose.
func (k *Key) Token(p Purpose) string { return k.mac(kindToken, string(p), "") }

// ValidToken reports whether text is the token for the purpose p.
func (k *Key) ValidToken(p Purpose, text string) bool {
	return hmac.Equal([]byte(text), []byte(k.Token(p)))
}
