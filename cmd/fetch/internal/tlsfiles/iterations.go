package tlsfiles

import "encoding/asn1"

const (
	maxIterations = 10_000_000 // as in package pkcs8
	maxLevels     = 20         // of a PKCS #12 file
)

// isCostly reports whether a PKCS #12 file requires more iterations than limit
// to derive a key. Package pkcs12 has no limit. In each of its key
// derivations, the number of iterations follows the salt, which is an octet string.
// Parameters in encrypted parts are not found. The MAC of the file protects them.
func isCostly(der []byte, limit int64, levels int) bool {
	salted := false // the last value was an octet string
	for levels > 0 && len(der) > 0 {
		var v asn1.RawValue
		rest, err := asn1.Unmarshal(der, &v)
		if err != nil {
			return false
		}
		kind := -1
		if v.Class == asn1.ClassUniversal {
			kind = v.Tag
		}
		if kind == asn1.TagInteger && salted && isAbove(v.FullBytes, limit) {
			return true
		}
		salted = kind == asn1.TagOctetString
		if (v.IsCompound || salted && isSequence(v.Bytes)) && isCostly(v.Bytes, limit, levels-1) {
			return true
		}
		der = rest
	}
	return false
}

// isAbove reports whether an INTEGER is above limit.
func isAbove(der []byte, limit int64) bool {
	var n int64
	_, err := asn1.Unmarshal(der, &n)
	return err != nil || n > limit
}

// isSequence reports whether text is one SEQUENCE.
func isSequence(text []byte) bool {
	var v asn1.RawValue
	rest, err := asn1.Unmarshal(text, &v)
	return err == nil && len(rest) == 0 && v.Class == asn1.ClassUniversal && v.Tag == asn1.TagSequence
}
