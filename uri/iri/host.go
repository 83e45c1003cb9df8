package iri

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
	"golang.org/x/net/idna"
)

// profile is the IDNA profile idna.Lookup with two changes. It accepts "_",
// which occurs in DNS names, and it enforces the length limits of RFC 1035.
var profile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
	idna.StrictDomainName(false), idna.VerifyDNSLength(true),
)

// maxName is the maximum length in bytes of a host name that ToASCII converts.
// The limit is necessary because encoding a name takes quadratic time.
const maxName = 1 << 10

// ToASCII converts the host of u to the ASCII form used by DNS ("xn--…"). In u,
// the non-ASCII letters of the host are percent-encoded (RFC 3986 section
// 3.2.2). Full-width letters and digits become ASCII, so the resulting host may
// be an IP address. ToASCII returns URIs with an ASCII host unchanged. It
// returns an [*uri.Error] if the host is not a valid IDNA name or the result is
// not a valid DNS name.
func ToASCII(u uri.URI) (uri.URI, error) {
	host := u.Host()
	if u.HostKind() != uri.RegName || strings.IndexByte(host, '%') < 0 {
		return u, nil
	}
	name, err := uri.Unescape(host)
	if err != nil || uri.EscapeNonASCII(name) == name {
		return u, nil
	}
	refused := &uri.Error{Offset: hostOffset(u), Reason: "host is not a valid IDNA name"}
	if len(name) > maxName || !utf8.ValidString(name) { // x/net v0.62.0 encodes U+FFFD for invalid UTF-8
		return uri.URI{}, refused
	}
	stem, dot := strings.CutSuffix(name, ".")
	name, err = profile.ToASCII(stem)
	if err != nil || !isDNSName(name) {
		return uri.URI{}, refused
	}
	if dot {
		name += "."
	}
	p := u.Parts()
	p.Host = name
	return uri.Build(p)
}

// ASCIIHost returns the form that a host name has in URIs, such as
// xn--bcher-kva.test for bücher.test. It returns other text unchanged.
func ASCIIHost(host string) string {
	if uri.EscapeNonASCII(host) == host || strings.ContainsAny(host, "/?#@:[]%") {
		return host
	}
	u, err := Parse("http://" + host + "/")
	if err != nil {
		return host
	}
	return u.Host()
}

// hostOffset returns the byte offset at which the host starts in u.
func hostOffset(u uri.URI) int {
	info, ok := u.Userinfo()
	n := len(u.Scheme()) + len("://") + len(info)
	if ok {
		n++
	}
	return n
}

// isDNSName reports whether name contains only letters, digits, "-", "_" and
// dots. IDNA mapping can produce other characters, such as "/", "%" and "@".
func isDNSName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// Unicode decodes the "xn--" labels of a host name for display. It decodes a
// label only if a user cannot easily confuse the decoded label with another
// name. The letters must belong to one script, or to scripts that Chinese,
// Japanese or Korean text combines. A label is not decoded if all its letters
// are Cyrillic or Greek letters that look like Latin letters. Encoding the
// decoded label must yield the same "xn--" label.
func Unicode(host string) string {
	if !strings.Contains(strings.ToLower(host), "xn--") || len(host) > maxName {
		return host
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		label = strings.ToLower(label)
		if !strings.HasPrefix(label, "xn--") {
			continue
		}
		decoded, err := profile.ToUnicode(label)
		if err != nil || !isUnambiguous(decoded) {
			continue
		}
		if again, err := profile.ToASCII(decoded); err == nil && again == label {
			labels[i] = decoded
		}
	}
	return strings.Join(labels, ".")
}

// scripts lists the scripts of modern languages (UAX 31, table 5). The first
// three scripts have precomposed letters, so a combining mark after one of
// their letters is suspicious.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic,
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Arabic, unicode.Armenian, unicode.Bengali, unicode.Devanagari, unicode.Ethiopic,
	unicode.Georgian, unicode.Gujarati, unicode.Gurmukhi, unicode.Hebrew, unicode.Kannada,
	unicode.Khmer, unicode.Lao, unicode.Malayalam, unicode.Myanmar, unicode.Oriya,
	unicode.Sinhala, unicode.Tamil, unicode.Telugu, unicode.Thaana, unicode.Thai, unicode.Tibetan,
}

// combinedScripts lists combinations of scripts that may occur in one name.
// Each combination is a bit set in which bit n means scripts[n].
var combinedScripts = []uint32{1<<3 | 1<<4 | 1<<5, 1<<3 | 1<<6, 1<<3 | 1<<7}

// latinLookalikes contains the lower-case Cyrillic and Greek letters that look
// like Latin letters.
const latinLookalikes = "асԁеһіјӏорԛѕԝхуъьҽпгѵѡ" + "αηικνορτυω"

// isUnambiguous reports whether a user can distinguish the decoded label from
// other names.
func isUnambiguous(label string) bool {
	var seen uint32
	likeLatin, marked := true, false
	for _, r := range label {
		switch {
		case r == '-' || r == '_' || '0' <= r && r <= '9':
			continue
		case !unicode.In(r, unicode.L, unicode.M, unicode.N):
			return false
		}
		likeLatin = likeLatin && strings.ContainsRune(latinLookalikes, r)
		marked = marked || unicode.Is(unicode.M, r)
		if unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		n := 0
		for n < len(scripts) && !unicode.Is(scripts[n], r) {
			n++
		}
		if n == len(scripts) {
			return false
		}
		seen |= 1 << n
	}
	switch {
	case seen == 0, likeLatin, marked && seen <= 1<<2:
		return false
	case seen&(seen-1) == 0:
		return true
	}
	for _, set := range combinedScripts {
		if seen&^set == 0 {
			return true
		}
	}
	return false
}
