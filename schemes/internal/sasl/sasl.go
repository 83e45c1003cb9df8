// Package sasl implements the client side of SASL mechanisms (RFC 4422), for
// imap and pop. The callers transfer the messages of an [Exchange] in commands
// of these protocols.
package sasl

import (
	"encoding/base64"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// An Exchange holds the client side of one authentication.
type Exchange struct {
	Initial func() []byte                // returns the initial response; nil if the server sends first
	Respond func([]byte) ([]byte, error) // returns the response to a challenge
	Verify  func() error                 // returns an error if the server is not authenticated; may be nil
}

// MaxChallenges is the maximum number of challenges in one Exchange.
const MaxChallenges = 8

// A Mechanism describes a SASL mechanism.
type Mechanism struct {
	Name      string
	Plaintext bool // sends the password or token unprotected
	Token     bool // uses Credential.Token
	Anonymous bool // needs no credentials
	Explicit  bool // used only if the user requests it by name

	// New starts an authentication. The argument address is a mail address of
	// the user, which only an anonymous login sends.
	New func(auth *fetch.Credential, address string) Exchange
}

// Mechanisms returns the supported mechanisms, with the preferred mechanisms
// first.
func Mechanisms() []Mechanism {
	return []Mechanism{
		{Name: "EXTERNAL", Explicit: true, New: external},
		{Name: "OAUTHBEARER", Plaintext: true, Token: true, New: oauthBearer},
		{Name: "XOAUTH2", Plaintext: true, Token: true, New: xoauth2},
		{Name: "SCRAM-SHA-256", New: scramSHA256},
		{Name: "SCRAM-SHA-1", New: scramSHA1},
		{Name: "CRAM-MD5", New: cramMD5},
		{Name: "PLAIN", Plaintext: true, New: plain},
		{Name: "LOGIN", Plaintext: true, New: login},
		{Name: "ANONYMOUS", Anonymous: true, New: anonymous},
	}
}

// Fits reports whether a credential, which may be nil, allows the mechanism. If
// the user has requested a mechanism by its name, only that mechanism fits. The
// names "" and "*" select all mechanisms that are not explicit.
func (m Mechanism) Fits(requested string, auth *fetch.Credential) bool {
	if requested != "" && requested != "*" {
		return m.Name == requested && (auth != nil || m.Anonymous || m.Name == "EXTERNAL")
	}
	return !m.Explicit && m.Anonymous == (auth == nil) && m.Token == (auth != nil && auth.Token != "")
}

// CheckPlaintext returns an error if a login would send a password in plaintext
// to a server that the user has not chosen. A redirect or a listing could name a
// hostile server.
func CheckPlaintext(c *sessions.Conn, plaintext, typed bool) error {
	switch {
	case c.TLS != nil || !plaintext:
		return nil
	case !typed:
		return fetch.Auth.Errorf("password not sent in plaintext, because the user did not enter this URL")
	}
	c.Trace().Notef("password sent in plaintext")
	return nil
}

// AnswerChallenge decodes a challenge from base64 and returns the response,
// which is not encoded.
func (x Exchange) AnswerChallenge(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fetch.Auth.Errorf("challenge of the server is not valid base64")
	}
	return x.Respond(b)
}

// Encode returns b in base64. If b is empty, it returns ifEmpty.
func Encode(b []byte, ifEmpty string) string {
	if len(b) == 0 {
		return ifEmpty
	}
	return base64.StdEncoding.EncodeToString(b)
}
