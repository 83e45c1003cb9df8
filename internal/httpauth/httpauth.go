// Package httpauth computes responses to the authentication challenges of HTTP
// servers and proxies. It supports Basic (RFC 7617) and Digest (RFC 7616).
package httpauth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/http1"
)

// A Login is a user name and a password. An empty User means no credentials.
type Login struct{ User, Password string }

// Format prints the user name and masks the password, for every verb.
func (l Login) Format(f fmt.State, _ rune) {
	if l != (Login{}) {
		io.WriteString(f, l.User+":***")
	}
}

// A Method selects the challenges that may be answered.
type Method uint8

const (
	Basic  Method = iota // Basic only; the caller may send it without a challenge
	Digest               // Digest only
	Any                  // Digest if it is offered, otherwise Basic
)

// Choose returns the preferred challenge in list. It returns a Challenge
// without a Scheme if m allows none of them.
func (m Method) Choose(list []Challenge) (best Challenge) {
	for _, c := range list {
		switch {
		case c.Scheme == "digest" && m != Basic && c.usable():
			return c
		case c.Scheme == "basic" && m != Digest && best.Scheme == "":
			best = c
		}
	}
	return best
}

// OnlyDigest reports whether list has Digest but not Basic. The user must then
// select Digest, because Basic is the default method.
func OnlyDigest(list []Challenge) (digest bool) {
	for _, c := range list {
		if c.Scheme == "basic" {
			return false
		}
		digest = digest || c.Scheme == "digest"
	}
	return digest
}

// Answer returns the value of the Authorization or Proxy-Authorization field
// that authenticates l for a request with this method and target and without a
// body. The scheme must be basic or digest. use counts, from 1, the answers to
// c.
func (c Challenge) Answer(l Login, method, target string, use int) (string, error) {
	switch c.Scheme {
	case "basic":
		if strings.Contains(l.User, ":") || http1.HasControl(l.User) || http1.HasControl(l.Password) {
			return "", errors.New("colon or control character in the login")
		}
		return BasicField(l), nil
	case "digest":
		return c.digest(l, method, target, newNonce(), use)
	}
	return "", errors.New("unknown authentication scheme")
}

// BasicField returns the value of an Authorization field for Basic. It does not
// validate the login.
func BasicField(l Login) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.User+":"+l.Password))
}
