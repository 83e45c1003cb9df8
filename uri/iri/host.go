package iri

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
	"golang.org/x/net/idna"
)

// profile is that of idna.Lookup, except that it takes "_", which real hosts have,
// and keeps the lengths of RFC 1035.
var profile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
	idna.StrictDomainName(false), idna.VerifyDNSLength(true),
)

// maxName is longer than any name in DNS; punycode takes quadratic time.
const maxName = 1 << 10

// ToASCII returns u with a host that holds percent-encoded letters outside ASCII in
// the form that DNS knows ("xn--…"): RFC 3986 section 3.2.2. Full-width letters and
// digits become plain ones, so that the result may be an address. Other URIs stay
// as they are. It is an [*uri.Error] if the host is no name for IDNA, or becomes
// none that DNS has.
func ToASCII(u uri.URI) (uri.URI, error) {
	host := u.Host()
	if u.HostKind() != uri.RegName || strings.IndexByte(host, '%') < 0 {
		return u, nil
	}
	name, err := uri.Unescape(host)
	if err != nil || uri.EscapeNonASCII(name) == name {
		return u, nil
	}
	refused := &uri.Error{Offset: hostOffset(u), Reason: "host is not a name of IDNA"}
	if len(name) > maxName || !utf8.ValidString(name) { // x/net v0.62.0 encodes U+FFFD for what is not UTF-8
		return uri.URI{}, refused
	}
	stem, dot := strings.CutSuffix(name, ".")
	name, err = profile.ToASCII(stem)
	if err != nil || !plain(name) {
		return uri.URI{}, refused
	}
	if dot {
		name += "."
	}
	p := u.Parts()
	p.Host = name
	return uri.Build(p)
}

// hostOffset returns where in u its host stands.
func hostOffset(u uri.URI) int {
	info, ok := u.Userinfo()
	n := len(u.Scheme()) + len("://") + len(info)
	if ok {
		n++
	}
	return n
}

// plain reports whether name is made of letters, digits, "-", "_" and dots:
// mapping may bring out a "/", a "%" or an "@".
func plain(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// Unicode returns host as a person reads it: each label that DNS has as "xn--…" is
// decoded if it cannot easily be taken for another. It is if its letters are of one
// script (for Japanese, Korean and Chinese, of those written together), if they are
// not all Cyrillic or Greek ones that look like Latin ones, and if it decodes to
// what encodes to the same. The result is for eyes alone.
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
		if err != nil || !unmistakable(decoded) {
			continue
		}
		if again, err := profile.ToASCII(decoded); err == nil && again == label {
			labels[i] = decoded
		}
	}
	return strings.Join(labels, ".")
}

// scripts are those of modern languages: UAX 31, table 5. Marks on letters of the
// first three have letters of their own where they are in use.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic,
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Arabic, unicode.Armenian, unicode.Bengali, unicode.Devanagari, unicode.Ethiopic,
	unicode.Georgian, unicode.Gujarati, unicode.Gurmukhi, unicode.Hebrew, unicode.Kannada,
	unicode.Khmer, unicode.Lao, unicode.Malayalam, unicode.Myanmar, unicode.Oriya,
	unicode.Sinhala, unicode.Tamil, unicode.Telugu, unicode.Thaana, unicode.Thai, unicode.Tibetan,
}

// together are sets of scripts, by their place in scripts, that one text mixes.
var together = []uint32{1<<3 | 1<<4 | 1<<5, 1<<3 | 1<<6, 1<<3 | 1<<7}

// alike are the small letters of Cyrillic and Greek that look like Latin ones.
const alike = "асԁеһіјӏорԛѕԝхуъьҽпгѵѡ" + "αηικνορτυω"

// unmistakable reports whether a label says what it seems to say.
func unmistakable(label string) bool {
	var seen uint32
	likeLatin, marked := true, false
	for _, r := range label {
		switch {
		case r == '-' || r == '_' || '0' <= r && r <= '9':
			continue
		case !unicode.In(r, unicode.L, unicode.M, unicode.N):
			return false
		}
		likeLatin = likeLatin && strings.ContainsRune(alike, r)
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
	for _, set := range together {
		if seen&^set == 0 {
			return true
		}
	}
	return false
}
