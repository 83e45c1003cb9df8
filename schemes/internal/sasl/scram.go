package sasl

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"golang.org/x/text/unicode/norm"
)

func scramSHA256(auth *fetch.Credential, _ string) Exchange {
	return newScram(sha256.New, auth.User, auth.Password.Reveal(), rand.Text()).exchange()
}

func scramSHA1(auth *fetch.Credential, _ string) Exchange {
	return newScram(sha1.New, auth.User, auth.Password.Reveal(), rand.Text()).exchange()
}

// A scram holds the state of a SCRAM authentication (RFC 5802) without channel
// binding. The client does not send the password. The server proves that it has
// the user's credentials.
type scram struct {
	hash            func() hash.Hash
	clientFirstBare string // client-first-message-bare
	nonce           string
	password        string
	serverSignature []byte // expected signature; nil before the server's first message
	serverVerified  bool
}

// ErrProofRejected and ErrServerSignature are the errors of a failed SCRAM
// authentication. After either error, the client tries no other mechanism.
var (
	ErrProofRejected   error = fetch.Auth.Errorf("server rejected the password proof")
	ErrServerSignature error = fetch.Auth.Errorf("server failed to authenticate itself: invalid SCRAM signature")
)

// gs2Header is the SCRAM header (RFC 5802 7) of a client without channel
// binding.
const gs2Header = "n,,"

// These constants limit the iteration count that the server may request. RFC
// 5802 5.1 recommends at least 4096. The upper limit prevents a denial of
// service.
const (
	minIterations = 4096
	maxIterations = 2_000_000
)

// newScram returns the initial state of a SCRAM authentication with the given
// client nonce. It normalizes the user name and the password with NFKC. The
// other steps of SASLprep (RFC 4013) are omitted, because they rarely affect
// text from a keyboard.
func newScram(h func() hash.Hash, user, password, nonce string) *scram {
	return &scram{hash: h, nonce: nonce, password: norm.NFKC.String(password),
		clientFirstBare: "n=" + scramName(norm.NFKC.String(user)) + ",r=" + nonce}
}

// scramName escapes "," and "=" in a user name (RFC 5802 5.1).
func scramName(s string) string { return strings.NewReplacer("=", "=3D", ",", "=2C").Replace(s) }

func (c *scram) exchange() Exchange {
	return Exchange{
		Initial: func() []byte { return []byte(gs2Header + c.clientFirstBare) },
		Respond: c.next,
		Verify: func() error {
			if !c.serverVerified {
				return fetch.Auth.Errorf("server did not authenticate itself: no SCRAM signature")
			}
			return nil
		},
	}
}

func (c *scram) next(message []byte) ([]byte, error) {
	if c.serverSignature == nil {
		return c.clientFinal(string(message))
	}
	fields := scramFields(string(message))
	if c.serverVerified || fields["e"] != "" {
		return nil, ErrProofRejected
	}
	got, err := base64.StdEncoding.DecodeString(fields["v"])
	if err != nil || !hmac.Equal(got, c.serverSignature) {
		return nil, ErrServerSignature
	}
	c.serverVerified = true
	return nil, nil
}

// clientFinal returns the SCRAM client-final-message (RFC 5802 3) in response
// to the server-first-message.
func (c *scram) clientFinal(message string) ([]byte, error) {
	fields := scramFields(message)
	salt, err := base64.StdEncoding.DecodeString(fields["s"])
	iterations, err2 := strconv.Atoi(fields["i"])
	nonce := fields["r"]
	switch {
	case err != nil || err2 != nil || len(salt) == 0 || fields["m"] != "":
		return nil, fetch.Auth.Errorf("malformed SCRAM challenge of the server")
	case !strings.HasPrefix(nonce, c.nonce) || len(nonce) == len(c.nonce):
		return nil, fetch.Auth.Errorf("nonce in the SCRAM challenge of the server does not match")
	case iterations < minIterations || iterations > maxIterations:
		return nil, fetch.Auth.Errorf("SCRAM iteration count %d is not between %d and %d",
			iterations, minIterations, maxIterations)
	}
	size := c.hash().Size()
	salted, err := pbkdf2.Key(c.hash, c.password, salt, iterations, size)
	if err != nil {
		return nil, fetch.Internal.With(err)
	}
	final := "c=" + base64.StdEncoding.EncodeToString([]byte(gs2Header)) + ",r=" + nonce
	signed := c.clientFirstBare + "," + message + "," + final
	clientKey := c.mac(salted, "Client Key")
	stored := c.hash()
	stored.Write(clientKey)
	proof := c.mac(stored.Sum(nil), signed)
	for i := range proof {
		proof[i] ^= clientKey[i]
	}
	c.serverSignature = c.mac(c.mac(salted, "Server Key"), signed)
	return []byte(final + ",p=" + base64.StdEncoding.EncodeToString(proof)), nil
}

func (c *scram) mac(key []byte, text string) []byte {
	m := hmac.New(c.hash, key)
	m.Write([]byte(text))
	return bytes.Clone(m.Sum(nil))
}

// scramFields parses the attributes of a SCRAM message, such as "r=…,s=…,i=…".
func scramFields(message string) map[string]string {
	fields := map[string]string{}
	for field := range strings.SplitSeq(message, ",") {
		if name, value, ok := strings.Cut(field, "="); ok {
			fields[name] = value
		}
	}
	return fields
}
