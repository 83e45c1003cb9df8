// Package httpauth implements Basic (RFC 7617) and Digest (RFC 7616)
// authentication for HTTP clients. It parses the challenges of servers and
// proxies, and computes Authorization header fields.
package httpauth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// A Login is a user name and a password. An empty User means that there are no
// credentials.
type Login struct{ User, Password string }

// Format implements [fmt.Formatter]. It prints the user name and "***" in place
// of the password.
func (l Login) Format(f fmt.State, _ rune) {
	if l != (Login{}) {
		io.WriteString(f, l.User+":***")
	}
}

// A Method selects the authentication methods that a client may use.
type Method uint8

const (
	Basic  Method = iota // Basic only; the caller may send it without a challenge
	Digest               // Digest only
	Any                  // Digest if it is offered, otherwise Basic
)

// Choose returns the preferred challenge in list. It returns an empty Challenge
// if m allows no challenge in list.
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

// OnlyDigest reports whether list contains a Digest challenge but no Basic
// challenge. In this case the user must select Digest, because Basic is the
// default.
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
// for a request with the credentials l. The request has the given method and
// target and no body. The scheme of c must be basic or digest. use is the
// number of requests that have used c, including this request.
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

// BasicField returns the value of an Authorization field for Basic
// authentication. It does not validate the user name and the password.
func BasicField(l Login) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.User+":"+l.Password))
}
