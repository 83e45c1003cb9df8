package tlsfiles

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
)

// distributionID identifies the extension of a revocation list that limits it to
// some certificates of its authority (RFC 5280 section 5.2.5).
var distributionID = asn1.ObjectIdentifier{2, 5, 29, 28}

// A distribution is the value of this extension.
type distribution struct {
	Point struct {
		Names    []asn1.RawValue  `asn1:"optional,tag:0"`
		Relative pkix.RDNSequence `asn1:"optional,tag:1"`
	} `asn1:"optional,tag:0"`
	Users       bool           `asn1:"optional,tag:1"`
	Authorities bool           `asn1:"optional,tag:2"`
	Reasons     asn1.BitString `asn1:"optional,tag:3"`
	Indirect    bool           `asn1:"optional,tag:4"`
	Attributes  bool           `asn1:"optional,tag:5"`
}

// covers reports whether l has all revocations of cert. It returns false for a
// list with an unknown critical extension, such as a list of changes.
func covers(l *x509.RevocationList, cert *x509.Certificate) bool {
	for _, e := range l.Extensions {
		switch {
		case !e.Id.Equal(distributionID):
			if e.Critical {
				return false
			}
		case !isInScope(e.Value, cert):
			return false
		}
	}
	return true
}

// isInScope reports whether the value of the extension includes cert. A list that
// its authority distributes in parts names the part in cert too.
func isInScope(value []byte, cert *x509.Certificate) bool {
	var d distribution
	rest, err := asn1.Unmarshal(value, &d)
	switch {
	case err != nil, len(rest) > 0, d.Indirect, d.Attributes, d.Reasons.BitLength > 0, d.Users && cert.IsCA, d.Authorities && !cert.IsCA:
		return false
	case len(d.Point.Names)+len(d.Point.Relative) == 0:
		return true
	}
	const tagURI = 6 // of a GeneralName
	return slices.ContainsFunc(d.Point.Names, func(name asn1.RawValue) bool {
		return name.Tag == tagURI && slices.Contains(cert.CRLDistributionPoints, string(name.Bytes))
	})
}
