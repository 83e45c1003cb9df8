package proxy

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"strings"
)

// hashOf returns the hash of RFC 7616 3.3 that an algorithm names, in
// hexadecimal; nil for one that we have not.
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

// usable reports whether a digest challenge can be answered by us.
func (c Challenge) usable() bool {
	_, legacy := c.qop()
	return hashOf(c.Params["algorithm"]) != nil && c.Params["nonce"] != "" && (legacy || c.offers("auth") || c.offers("auth-int"))
}

// Lasting reports whether c may be answered more than once: not where the
// first answer has made a session key (RFC 7616 3.4.2).
func (c Challenge) Lasting() bool {
	return !strings.HasSuffix(strings.ToUpper(c.Params["algorithm"]), "-SESS")
}

// qop returns the offered qualities of protection; legacy is a challenge of
// RFC 2069, which has none.
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

// stale reports whether only the nonce was too old, not the login wrong.
func (c Challenge) stale() bool { return strings.EqualFold(c.Params["stale"], "true") }

// digest computes the response of RFC 7616 3.4, with qop auth, or auth-int
// where that alone is offered, for one use of a nonce.
func (c Challenge) digest(l Login, method, target, cnonce string, use int) (string, error) {
	count := fmt.Sprintf("%08x", use)
	if hasControl(l.User) || hasControl(target) || !c.usable() {
		return "", fmt.Errorf("%w: login or challenge for digest", ErrOption)
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
	fmt.Fprintf(&b, "Digest username=%s, realm=%s, nonce=%s, uri=%s", quote(user), quote(realm), quote(nonce), quote(target))
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
