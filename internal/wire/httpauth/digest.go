package httpauth

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// hashOf returns the hash function for a Digest algorithm such as SHA-256 (RFC
// 7616 3.3). The hash function returns hexadecimal digits. hashOf returns nil
// for an unknown algorithm.
func hashOf(algorithm string) func(string) string {
	switch strings.TrimSuffix(strings.ToUpper(algorithm), "-SESS") {
	case "", "MD5":
		return func(s string) string { h := md5.Sum([]byte(s)); return hex.EncodeToString(h[:]) }
	case "SHA-256":
		return func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	case "SHA-512-256":
		return func(s string) string { h := sha512.Sum512_256([]byte(s)); return hex.EncodeToString(h[:]) }
	}
	return nil
}

// usable reports whether the Digest challenge c has a nonce, a supported
// algorithm and a supported quality of protection (qop).
func (c Challenge) usable() bool {
	_, legacy := c.qop()
	return hashOf(c.Params["algorithm"]) != nil && c.Params["nonce"] != "" &&
		(legacy || c.offers("auth") || c.offers("auth-int"))
}

// Lasting reports whether several requests may use the Digest challenge c. It
// returns false for session algorithms such as MD5-sess (RFC 7616 3.4.2).
func (c Challenge) Lasting() bool {
	return !strings.HasSuffix(strings.ToUpper(c.Params["algorithm"]), "-SESS")
}

// qop returns the parameter qop, which lists the qualities of protection that
// the server offers. legacy is true if the parameter is missing, as in RFC
// 2069.
func (c Challenge) qop() (offered string, legacy bool) {
	offered, ok := c.Params["qop"]
	return offered, !ok
}

func (c Challenge) offers(qop string) bool {
	offered, _ := c.qop()
	for item := range strings.SplitSeq(offered, ",") {
		if strings.EqualFold(strings.Trim(item, " \t"), qop) {
			return true
		}
	}
	return false
}

// Stale reports whether the server rejected a request only because the nonce
// has expired. The credentials were correct.
func (c Challenge) Stale() bool { return strings.EqualFold(c.Params["stale"], "true") }

// digest returns the value of an Authorization field for Digest authentication
// (RFC 7616 3.4). use is the number of requests with this nonce, including this
// request. digest uses the qop value auth, unless the server offers only
// auth-int.
func (c Challenge) digest(l Login, method, target, cnonce string, use int) (string, error) {
	count := fmt.Sprintf("%08x", use)
	if http1.HasControl(l.User) || http1.HasControl(target) || !c.usable() {
		return "", errors.New("login or challenge that Digest cannot use")
	}
	algorithm, realm, nonce := c.Params["algorithm"], c.Params["realm"], c.Params["nonce"]
	hash := hashOf(algorithm)
	secret := hash(l.User + ":" + realm + ":" + l.Password)
	if strings.HasSuffix(strings.ToUpper(algorithm), "-SESS") {
		secret = hash(secret + ":" + nonce + ":" + cnonce)
	}
	user := l.User
	if strings.EqualFold(c.Params["userhash"], "true") {
		user = hash(user + ":" + realm)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Digest username=%s, realm=%s, nonce=%s, uri=%s",
		quote(user), quote(realm), quote(nonce), quote(target))
	request := hash(method + ":" + target)
	if _, legacy := c.qop(); legacy {
		fmt.Fprintf(&b, `, response="%s"`, hash(secret+":"+nonce+":"+request))
	} else {
		qop := "auth"
		if !c.offers(qop) {
			qop, request = "auth-int", hash(method+":"+target+":"+hash(""))
		}
		response := hash(strings.Join([]string{secret, nonce, count, cnonce, qop, request}, ":"))
		fmt.Fprintf(&b, `, cnonce=%s, nc=%s, qop=%s, response="%s"`, quote(cnonce), count, qop, response)
	}
	if opaque, ok := c.Params["opaque"]; ok {
		b.WriteString(", opaque=" + quote(opaque))
	}
	if algorithm != "" {
		b.WriteString(", algorithm=" + algorithm)
	}
	if user != l.User {
		b.WriteString(", userhash=true")
	}
	return b.String(), nil
}

func newNonce() string { return rand.Text() }
