package sasl

import (
	"crypto/hmac"
	"crypto/md5"
	"fmt"

	"github.com/anyurl/fetch/fetch"
)

// noResponse returns an empty response to an unexpected challenge. Before a
// server rejects a login, it may send such a challenge with the reason.
func noResponse([]byte) ([]byte, error) { return nil, nil }

func singleMessage(text string) Exchange {
	return Exchange{Initial: func() []byte { return []byte(text) }, Respond: noResponse}
}

// plain implements PLAIN (RFC 4616).
func plain(auth *fetch.Credential, _ string) Exchange {
	return singleMessage("\x00" + auth.User + "\x00" + auth.Password.Reveal())
}

// external implements the EXTERNAL mechanism (RFC 4422 appendix A). The
// server identifies the client by its TLS certificate or its network address.
func external(auth *fetch.Credential, _ string) Exchange {
	if auth == nil {
		return singleMessage("")
	}
	return singleMessage(auth.User)
}

// anonymous implements the ANONYMOUS mechanism (RFC 4505).
func anonymous(_ *fetch.Credential, address string) Exchange { return singleMessage(address) }

// oauthBearer implements the OAUTHBEARER mechanism (RFC 7628).
func oauthBearer(auth *fetch.Credential, _ string) Exchange {
	return singleMessage("n,a=" + scramName(auth.User) + ",\x01auth=Bearer " + auth.Token.Reveal() + "\x01\x01")
}

// xoauth2 implements the XOAUTH2 mechanism, Google's predecessor of
// OAUTHBEARER.
func xoauth2(auth *fetch.Credential, _ string) Exchange {
	return singleMessage("user=" + auth.User + "\x01auth=Bearer " + auth.Token.Reveal() + "\x01\x01")
}

// login implements the LOGIN mechanism (draft-murchison-sasl-login). It
// answers the first challenge with the user name and the second challenge with
// the password. It ignores the text of the challenges.
func login(auth *fetch.Credential, _ string) Exchange {
	words := []string{auth.Password.Reveal()}
	return Exchange{
		Initial: func() []byte { return []byte(auth.User) },
		Respond: func([]byte) ([]byte, error) {
			if len(words) == 0 {
				return nil, fetch.Auth.Errorf("server sent more challenges than LOGIN allows")
			}
			word := words[0]
			words = words[1:]
			return []byte(word), nil
		},
	}
}

// cramMD5 implements the CRAM-MD5 mechanism (RFC 2195).
func cramMD5(auth *fetch.Credential, _ string) Exchange {
	return Exchange{Respond: func(challenge []byte) ([]byte, error) {
		if len(challenge) == 0 {
			return nil, fetch.Auth.Errorf("challenge of the server is empty")
		}
		mac := hmac.New(md5.New, []byte(auth.Password.Reveal()))
		mac.Write(challenge)
		return fmt.Appendf(nil, "%s %x", auth.User, mac.Sum(nil)), nil
	}}
}
