package mail

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
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

// A saslExchange holds the client side of one SASL authentication (RFC 4422).
type saslExchange struct {
	initial func() []byte                // returns the initial response; nil if the server sends first
	respond func([]byte) ([]byte, error) // returns the response to a challenge
	verify  func() error                 // returns an error if the server is not authenticated; may be nil
}

// maxChallenges is the maximum number of challenges in one SASL exchange.
const maxChallenges = 8

// authenticate sends the AUTHENTICATE command (RFC 3501 6.2.2) and responds to
// the server's challenges. If atOnce is true, the command includes the initial
// response (RFC 4959).
//
// If authenticate returns an error and the session is still usable, the client
// has canceled the authentication.
func (s *session) authenticate(name string, x saslExchange, atOnce bool) (answer, error) {
	words := []string{"AUTHENTICATE", name}
	secret, begun := "", x.initial == nil
	if atOnce && !begun {
		secret, begun = encodeBase64(x.initial(), "="), true
		words = append(words, secret)
	}
	a, err := s.command(secret, words...)
	for round := 0; err == nil && a.status == "+"; round++ {
		if round == maxChallenges {
			s.Break()
			return a, fetch.Protocol.Errorf("too many challenges in authentication by %s", name)
		}
		var reply []byte
		if begun {
			if reply, err = answerChallenge(a.text, x.respond); err != nil {
				_, lost := s.roundTrip([]byte("*\r\n"), "")
				switch {
				case lost == nil && err == errProofRejected:
					return answer{status: "NO", text: err.Error(), final: true}, nil
				case err == errServerSignature:
					s.Break()
				}
				return answer{}, cmp.Or(lost, err)
			}
		} else {
			reply, begun = x.initial(), true
		}
		text := encodeBase64(reply, "")
		a, err = s.roundTrip([]byte(text+"\r\n"), text)
	}
	if err == nil && a.status == "OK" && x.verify != nil {
		err = x.verify()
		if err != nil {
			s.Break()
		}
	}
	return a, err
}

func answerChallenge(text string, next func([]byte) ([]byte, error)) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fetch.Auth.Errorf("challenge of the server is not valid base64")
	}
	return next(b)
}

// encodeBase64 returns b in base64. If b is empty, it returns ifEmpty.
func encodeBase64(b []byte, ifEmpty string) string {
	if len(b) == 0 {
		return ifEmpty
	}
	return base64.StdEncoding.EncodeToString(b)
}
