package verify

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// maxMembers limits the number of digests that are read from header fields.
const maxMembers = 100

// ContentDigest returns the strongest digest in the Content-Digest field of a
// response (RFC 9530 section 2). It is the digest of the content of the message,
// which may be a part of the object. It returns false if there is no digest with
// a known algorithm.
func ContentDigest(header fetch.Header) (Digest, bool) {
	return strongest(header.Values("Content-Digest"), parseMember)
}

// ReprDigest returns the strongest digest in the field Repr-Digest (RFC 9530
// section 3), or in the older field Digest (RFC 3230). It is the digest of the
// complete object in its content coding, also if the response has only a part of
// it. The source is the name of the field.
func ReprDigest(header fetch.Header) (d Digest, source string, ok bool) {
	if d, ok = strongest(header.Values("Repr-Digest"), parseMember); ok {
		return d, "the field Repr-Digest", true
	}
	d, ok = strongest(header.Values("Digest"), parseInstance)
	return d, "the field Digest", ok
}

// strongest returns the strongest digest of the members of some fields. Members
// that parse rejects are ignored, because a server may use any algorithm.
func strongest(values []string, parse func(name, value string) (Digest, bool)) (best Digest, ok bool) {
	n := 0
	for _, value := range values {
		for member := range strings.SplitSeq(value, ",") {
			if n++; n > maxMembers {
				return best, ok
			}
			name, text, _ := strings.Cut(strings.Trim(member, " \t"), "=")
			d, valid := parse(strings.Trim(name, " \t"), strings.Trim(text, " \t"))
			if valid && (!ok || d.Strength() > best.Strength()) {
				best, ok = d, true
			}
		}
	}
	return best, ok
}

// parseMember parses the value of a member of a dictionary, which is a byte
// sequence between colons (RFC 8941 section 3.3.5). Parameters are ignored.
func parseMember(name, value string) (Digest, bool) {
	value, _, _ = strings.Cut(value, ";")
	text, ok := strings.CutPrefix(value, ":")
	if text, ok = strings.CutSuffix(text, ":"); !ok || text == "" {
		return Digest{}, false
	}
	return decodeField(name, text)
}

// parseInstance parses a digest of RFC 3230. Its encoding is base64, also for
// md5 and sha.
func parseInstance(name, value string) (Digest, bool) { return decodeField(name, value) }

// decodeField returns the digest of a field. Of the algorithms of RFC 3230 and
// RFC 9530, crc32c, adler and the checksums of UNIX are unknown.
func decodeField(name, text string) (Digest, bool) {
	switch strings.ToLower(name) {
	case "md5", "sha", "sha-256", "sha-512":
	default:
		return Digest{}, false
	}
	sum, err := decodeBase64(text)
	if err != nil {
		return Digest{}, false
	}
	return newDigest(withMore(nil), name, sum)
}
