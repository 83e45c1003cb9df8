package mail

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

func saslSCRAMSHA256(_ *driver, auth *fetch.Credential) saslExchange {
	return newScram(sha256.New, auth.User, auth.Password.Reveal(), rand.Text()).saslExchange()
}

func saslSCRAMSHA1(_ *driver, auth *fetch.Credential) saslExchange {
	return newScram(sha1.New, auth.User, auth.Password.Reveal(), rand.Text()).saslExchange()
}

// scram is RFC 5802 without channel binding: neither side tells its secret,
// and the server proves that it knows ours.
type scram struct {
	hash            func() hash.Hash
	clientFirstBare string // our first message without its header
	nonce           string
	password        string
	serverSignature []byte // what the server has to say at last; nil: not yet known
	serverVerified  bool
}

// errProof is the error for a server that has checked the proof of the password
// and refused it; errImpostor is that for a server that cannot prove that it
// knows the password. After either, no other mechanism is tried.
var (
	errProofRejected   error = fetch.Auth.Errorf("server refused the proof")
	errServerSignature error = fetch.Auth.Errorf("server does not know the password")
)

// header says: no channel binding.
const gs2Header = "n,,"

// The rounds that a server may ask of us. RFC 5802 5.1 wants 4096; too many
// would be an attack on our time.
const (
	minIterations = 4096
	maxIterations = 2_000_000
)

// newScram prepares name and password by NFKC, the part of SASLprep (RFC
// 4013) that changes what people type.
func newScram(h func() hash.Hash, user, password, nonce string) *scram {
	return &scram{hash: h, nonce: nonce, password: norm.NFKC.String(password),
		clientFirstBare: "n=" + scramName(norm.NFKC.String(user)) + ",r=" + nonce}
}

// scramName is a saslname: "," and "=" are written by name.
func scramName(s string) string { return strings.NewReplacer("=", "=3D", ",", "=2C").Replace(s) }

func (c *scram) saslExchange() saslExchange {
	return saslExchange{
		initial: func() []byte { return []byte(gs2Header + c.clientFirstBare) },
		respond: c.next,
		verify: func() error {
			if !c.serverVerified {
				return fetch.Auth.Errorf("server has not proved that it knows the password")
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
		return nil, errProofRejected
	}
	got, err := base64.StdEncoding.DecodeString(fields["v"])
	if err != nil || !hmac.Equal(got, c.serverSignature) {
		return nil, errServerSignature
	}
	c.serverVerified = true
	return nil, nil
}

// prove answers the server's first message (RFC 5802 3).
func (c *scram) clientFinal(message string) ([]byte, error) {
	fields := scramFields(message)
	salt, err := base64.StdEncoding.DecodeString(fields["s"])
	iterations, err2 := strconv.Atoi(fields["i"])
	nonce := fields["r"]
	switch {
	case err != nil || err2 != nil || len(salt) == 0 || fields["m"] != "":
		return nil, fetch.Auth.Errorf("challenge of the server is no SCRAM")
	case !strings.HasPrefix(nonce, c.nonce) || len(nonce) == len(c.nonce):
		return nil, fetch.Auth.Errorf("server answers somebody else's challenge")
	case iterations < minIterations || iterations > maxIterations:
		return nil, fetch.Auth.Errorf("server wants %d rounds, not %d to %d", iterations, minIterations, maxIterations)
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

// scramFields reads "r=…,s=…,i=…".
func scramFields(message string) map[string]string {
	fields := map[string]string{}
	for field := range strings.SplitSeq(message, ",") {
		if name, value, ok := strings.Cut(field, "="); ok {
			fields[name] = value
		}
	}
	return fields
}
