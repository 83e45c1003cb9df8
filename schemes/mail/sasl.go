package mail

import (
	"crypto/hmac"
	"crypto/md5"
	"fmt"

	"github.com/anyurl/fetch/fetch"
)

// noResponse returns an empty response to an unexpected challenge. Before a
// server rejects a login, it may send such a challenge with the reason.
func noResponse([]byte) ([]byte, error) { return nil, nil }

func singleMessage(text string) saslExchange {
	return saslExchange{initial: func() []byte { return []byte(text) }, respond: noResponse}
}

// saslPlain implements PLAIN (RFC 4616).
func saslPlain(_ *driver, auth *fetch.Credential) saslExchange {
	return singleMessage("\x00" + auth.User + "\x00" + auth.Password.Reveal())
}

// saslExternal implements the EXTERNAL mechanism (RFC 4422 appendix A). The
// server identifies the client by its TLS certificate or its network address.
func saslExternal(_ *driver, auth *fetch.Credential) saslExchange {
	if auth == nil {
		return singleMessage("")
	}
	return singleMessage(auth.User)
}

// saslAnonymous implements the ANONYMOUS mechanism (RFC 4505).
func saslAnonymous(d *driver, _ *fetch.Credential) saslExchange { return singleMessage(d.anonymous()) }

// saslOAuthBearer implements the OAUTHBEARER mechanism (RFC 7628).
func saslOAuthBearer(_ *driver, auth *fetch.Credential) saslExchange {
	return singleMessage("n,a=" + scramName(auth.User) + ",\x01auth=Bearer " + auth.Token.Reveal() + "\x01\x01")
}

// saslXOAuth2 implements the XOAUTH2 mechanism, Google's predecessor of
// OAUTHBEARER.
func saslXOAuth2(_ *driver, auth *fetch.Credential) saslExchange {
	return singleMessage("user=" + auth.User + "\x01auth=Bearer " + auth.Token.Reveal() + "\x01\x01")
}

// saslLogin implements the LOGIN mechanism (draft-murchison-sasl-login). It
// answers the first challenge with the user name and the second challenge with
// the password. It ignores the text of the challenges.
func saslLogin(_ *driver, auth *fetch.Credential) saslExchange {
	words := []string{auth.Password.Reveal()}
	return saslExchange{
		initial: func() []byte { return []byte(auth.User) },
		respond: func([]byte) ([]byte, error) {
			if len(words) == 0 {
				return nil, fetch.Auth.Errorf("server sent more challenges than LOGIN allows")
			}
			word := words[0]
			words = words[1:]
			return []byte(word), nil
		},
	}
}

// saslCRAMMD5 implements the CRAM-MD5 mechanism (RFC 2195).
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
