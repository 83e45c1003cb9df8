package mail

import (
	"cmp"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sasl"
)

func (o Options) anonymous() string { return cmp.Or(o.Anonymous, "fetch@") }

// login sends the LOGIN command (RFC 3501 6.2.3) and returns the server's
// answer.
func (s *session) login(user, password string) (answer, error) {
	if err := validateQuoted(user, password); err != nil {
		return answer{}, err
	}
	secret := quote(password)
	return s.command(secret, "LOGIN", quote(user), secret)
}

// validateQuoted returns an error if any of the texts contains CR, LF or NUL.
// These bytes cannot appear in a quoted string (RFC 3501 4.3).
func validateQuoted(texts ...string) error {
	for _, text := range texts {
		if strings.ContainsAny(text, "\r\n\x00") {
			return fetch.Usage.Errorf("credential cannot be sent: %w", line.ErrUnsafeByte)
		}
	}
	return nil
}

// authenticate sends the AUTHENTICATE command (RFC 3501 6.2.2) and responds to
// the server's challenges. If atOnce is true, the command includes the initial
// response (RFC 4959).
//
// If authenticate returns an error and the session is still usable, the client
// has canceled the authentication.
func (s *session) authenticate(name string, x sasl.Exchange, atOnce bool) (answer, error) {
	words := []string{"AUTHENTICATE", name}
	secret, begun := "", x.Initial == nil
	if atOnce && !begun {
		secret, begun = sasl.Encode(x.Initial(), "="), true
		words = append(words, secret)
	}
	a, err := s.command(secret, words...)
	for round := 0; err == nil && a.status == "+"; round++ {
		if round == sasl.MaxChallenges {
			s.Break()
			return a, fetch.Protocol.Errorf("too many challenges in authentication by %s", name)
		}
		var reply []byte
		if begun {
			if reply, err = x.AnswerChallenge(a.text); err != nil {
				_, lost := s.roundTrip([]byte("*\r\n"), "")
				switch {
				case lost == nil && err == sasl.ErrProofRejected:
					return answer{status: "NO", text: err.Error(), final: true}, nil
				case err == sasl.ErrServerSignature:
					s.Break()
				}
				return answer{}, cmp.Or(lost, err)
			}
		} else {
			reply, begun = x.Initial(), true
		}
		text := sasl.Encode(reply, "")
		a, err = s.roundTrip([]byte(text+"\r\n"), text)
	}
	if err == nil && a.status == "OK" && x.Verify != nil {
		err = x.Verify()
		if err != nil {
			s.Break()
		}
	}
	return a, err
}
