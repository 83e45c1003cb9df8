package mail

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// userOf returns the login in the userinfo of u, with its mechanism. It is nil
// if there is none.
func parseUserinfo(u uri.URI) (*fetch.Credential, error) {
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
	return &fetch.Credential{User: user, Password: fetch.Secret(password), Mechanism: mechanism}, nil
}

// cutMechanism cuts ";AUTH=MECHANISM" off the name of a userinfo, where RFC
// 5092 3.2 has it, or off the password, where curl has it. The arguments are
// escaped, so that "%3B" is a semicolon of the name.
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
		return "", "", "", fetch.BadURL.Errorf("the URL asks for a login by no known kind of mechanism")
	}
	return name, password, mechanism, nil
}

// cutAuth cuts ";AUTH=" off one half of a userinfo.
func cutAuth(text string) (rest, mechanism string, ok bool) {
	const mark = ";AUTH="
	if i := strings.LastIndexByte(text, ';'); i >= 0 && len(text)-i >= len(mark) && strings.EqualFold(text[i:i+len(mark)], mark) {
		return text[:i], text[i+len(mark):], true
	}
	return text, "", false
}

// isMechanism reports whether s can be an argument of AUTHENTICATE.
func isMechanism(s string) bool {
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`(){%"\]`, r)
	})
}
