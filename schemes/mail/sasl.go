package mail

import (
	"crypto/hmac"
	"crypto/md5"
	"fmt"

	"github.com/anyurl/fetch/fetch"
)

// over answers whatever a server still wants after our last word: with
// nothing. A server that has failed says why, and then no.
func noResponse([]byte) ([]byte, error) { return nil, nil }

func singleMessage(text string) saslExchange {
	return saslExchange{initial: func() []byte { return []byte(text) }, respond: noResponse}
}

// plain is RFC 4616.
func saslPlain(_ *driver, auth *fetch.Credential) saslExchange {
	return singleMessage("\x00" + auth.User + "\x00" + auth.Password.Reveal())
}

// external is RFC 4422 appendix A: TLS, or the network, has proved who we are.
func saslExternal(_ *driver, auth *fetch.Credential) saslExchange {
	if auth == nil {
		return singleMessage("")
	}
	return singleMessage(auth.User)
}

// anonymousToken is RFC 4505.
func saslAnonymous(d *driver, _ *fetch.Credential) saslExchange { return singleMessage(d.anonymous()) }

// oauthBearer is RFC 7628.
func saslOAuthBearer(_ *driver, auth *fetch.Credential) saslExchange {
	return singleMessage("n,a=" + scramName(auth.User) + ",\x01auth=Bearer " + auth.Token.Reveal() + "\x01\x01")
}

// xoauth2 is Google's forerunner of oauthBearer.
func saslXOAuth2(_ *driver, auth *fetch.Credential) saslExchange {
	return singleMessage("user=" + auth.User + "\x01auth=Bearer " + auth.Token.Reveal() + "\x01\x01")
}

// loginWords is draft-murchison-sasl-login: whatever the server asks, the
// user comes first and the password second.
func saslLogin(_ *driver, auth *fetch.Credential) saslExchange {
	words := []string{auth.Password.Reveal()}
	return saslExchange{
		initial: func() []byte { return []byte(auth.User) },
		respond: func([]byte) ([]byte, error) {
			if len(words) == 0 {
				return nil, fetch.Auth.Errorf("server asks for more than user and password")
			}
			word := words[0]
			words = words[1:]
			return []byte(word), nil
		},
	}
}

// cramMD5 is RFC 2195.
func saslCRAMMD5(_ *driver, auth *fetch.Credential) saslExchange {
	return saslExchange{respond: func(challenge []byte) ([]byte, error) {
		if len(challenge) == 0 {
			return nil, fetch.Auth.Errorf("challenge of the server is empty")
		}
		mac := hmac.New(md5.New, []byte(auth.Password.Reveal()))
		mac.Write(challenge)
		return fmt.Appendf(nil, "%s %x", auth.User, mac.Sum(nil)), nil
	}}
}
