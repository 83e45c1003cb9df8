package negotiate

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// maxIterations limits the work that a KDC can require.
const maxIterations = 1 << 20

// minIterations returns the default number of iterations for keys of an
// encryption type, which is also the minimum (RFC 3962 section 4, RFC 8009
// section 4). It returns 0 for the older types, which can be broken.
func minIterations(kind int32) uint32 {
	switch kind {
	case etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA1_96:
		return 4096
	case etypeID.AES128_CTS_HMAC_SHA256_128, etypeID.AES256_CTS_HMAC_SHA384_192:
		return 32768
	}
	return 0
}

// A derivation contains the parameters with which a key is derived from the
// password of a user. If they are weak, a server can guess the password.
type derivation struct {
	kind int32                // encryption type
	list types.PADataSequence // one checked PA-ETYPE-INFO2, or empty for the defaults
}

// readDerivation returns the derivation that a KDC requires, or otherwise if the
// list contains none. Only the first entry of PA-ETYPE-INFO2 has an effect. The
// older elements PA-PW-SALT and PA-ETYPE-INFO are ignored.
func readDerivation(list types.PADataSequence, otherwise derivation) (derivation, error) {
	d, found := otherwise, false
	for _, pa := range list {
		if pa.PADataType != patype.PA_ETYPE_INFO2 {
			continue
		}
		if found {
			return derivation{}, errors.New("KDC sent several lists of types of keys")
		}
		found = true
		info, err := pa.GetETypeInfo2()
		if err != nil || len(info) == 0 {
			return derivation{}, errors.New("malformed types of keys")
		}
		if err := checkIterations(info[0]); err != nil {
			return derivation{}, err
		}
		d = derivation{info[0].EType, types.PADataSequence{pa}}
	}
	if minIterations(d.kind) == 0 {
		return derivation{}, fmt.Errorf("KDC requires the encryption type %d, which is weak", d.kind)
	}
	return d, nil
}

// checkIterations returns an error if a key is too easy to guess, or costs too
// much time. Without parameters, the default of the encryption type applies.
func checkIterations(info types.ETypeInfo2Entry) error {
	switch len(info.S2KParams) {
	case 0:
		return nil
	case 4:
	default:
		return errors.New("malformed number of iterations")
	}
	switch n := binary.BigEndian.Uint32(info.S2KParams); {
	case n == 0, n > maxIterations: // 0 means 1 << 32
		return errors.New("KDC requires too many iterations")
	case n < minIterations(info.EType):
		return fmt.Errorf("KDC requires only %d iterations, which is weak", n)
	}
	return nil
}

// key returns the key of the user, and its version in the keytab.
func (d derivation) key(user *client.Client) (types.EncryptionKey, int, error) {
	c := user.Credentials
	if c.HasKeytab() {
		return c.Keytab().GetEncryptionKey(c.CName(), c.Domain(), 0, d.kind)
	}
	key, _, err := crypto.GetKeyFromPassword(c.Password(), c.CName(), c.Domain(), d.kind, d.list)
	return key, 0, err
}

// limitDerivation replaces the list of an answer by the derivation that the
// answer requires. If it requires none, earlier applies.
func limitDerivation(rep *messages.ASRep, earlier derivation) error {
	if earlier.kind != rep.EncPart.EType {
		earlier = derivation{kind: rep.EncPart.EType}
	}
	d, err := readDerivation(rep.PAData, earlier)
	if err == nil && d.kind != rep.EncPart.EType {
		err = fmt.Errorf("encrypted with the type %d instead of %d", rep.EncPart.EType, d.kind)
	}
	rep.PAData = d.list
	return err
}
