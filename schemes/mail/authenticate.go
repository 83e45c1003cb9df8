package mail

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

func (o Options) anonymous() string { return cmp.Or(o.Anonymous, "fetch@") }

// login sends the command LOGIN (RFC 3501 6.2.3) and returns the server's
// answer.
func (s *session) login(user, password string) (answer, error) {
	if err := validateQuoted(user, password); err != nil {
		return answer{}, err
	}
	secret := quote(password)
	return s.command(secret, "LOGIN", quote(user), secret)
}

// validateQuoted returns an error if a text contains CR, LF or NUL, which a
// quoted string of IMAP cannot hold.
func validateQuoted(texts ...string) error {
	for _, text := range texts {
		if strings.ContainsAny(text, "\r\n\x00") {
			return fetch.Usage.Errorf("credential cannot be sent: %w", line.ErrUnsafeByte)
		}
	}
	return nil
}

// A saslExchange is one authentication exchange of a SASL mechanism (RFC 4422).
type saslExchange struct {
	initial func() []byte                // the initial response; nil if the server speaks first
	respond func([]byte) ([]byte, error) // the response to a challenge
	verify  func() error                 // an error if the server did not authenticate itself; may be nil
}

// maxChallenges is the maximum number of challenges in one SASL exchange.
const maxChallenges = 8

// authenticate sends the command AUTHENTICATE (RFC 3501 6.2.2) and responds to
// the server's challenges. If atOnce is true, the command includes the initial
// response (RFC 4959). If authenticate returns an error and the session is not
// broken, the client canceled the exchange.
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

// encodeBase64 returns b in base64. If b has no bytes, it returns the argument
// empty.
func encodeBase64(b []byte, empty string) string {
	if len(b) == 0 {
		return empty
	}
	return base64.StdEncoding.EncodeToString(b)
}
