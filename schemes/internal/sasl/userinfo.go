package sasl

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// ParseUserinfo returns the credentials and the SASL mechanism in the userinfo
// of an imap or pop URL (RFC 5092 3.2, RFC 2384). It returns nil if the URL has no
// userinfo.
func ParseUserinfo(u uri.URI) (*fetch.Credential, error) {
	name, password, has := u.User()
	if name == "" && !has {
		return nil, nil
	}
	name, password, mechanism, err := cutMechanism(name, password)
	if err != nil {
		return nil, err
	}
	user, err := uri.Unescape(name)
	if err == nil {
		password, err = uri.Unescape(password)
	}
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	return &fetch.Credential{User: user, Password: fetch.Secret(password), Mechanism: mechanism, Incomplete: !has && user != ""}, nil
}

// cutMechanism removes the parameter ";AUTH=MECHANISM" from a percent-encoded
// user name (RFC 5092 3.2) or password. As in curl, the parameter may follow
// the password. A semicolon that belongs to the user name is encoded as "%3B".
func cutMechanism(name, password string) (restOfName, restOfPassword, mechanism string, err error) {
	name, first, inName := cutAuth(name)
	password, second, inPassword := cutAuth(password)
	if !inName && !inPassword {
		return name, password, "", nil
	}
	if mechanism = first; !inName {
		mechanism = second
	}
	if mechanism, err = uri.Unescape(mechanism); err != nil || !isMechanism(mechanism) {
		return "", "", "", fetch.BadURL.Errorf("AUTH parameter of the URL is not a valid mechanism name")
	}
	return name, password, mechanism, nil
}

// cutAuth splits text at the last ";AUTH=" and returns the parts before and
// after.
func cutAuth(text string) (rest, mechanism string, ok bool) {
	const mark = ";AUTH="
	i := strings.LastIndexByte(text, ';')
	if i >= 0 && len(text)-i >= len(mark) && strings.EqualFold(text[i:i+len(mark)], mark) {
		return text[:i], text[i+len(mark):], true
	}
	return text, "", false
}

// isMechanism reports whether s is a valid SASL mechanism name for the
// AUTHENTICATE command.
func isMechanism(s string) bool {
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`(){%"\]`, r)
	})
}
