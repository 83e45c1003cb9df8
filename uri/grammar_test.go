package uri

import (
	"regexp"
	"slices"
	"strings"
)

// The grammar of RFC 3986 appendix A as regular expressions. It is slow, and it
// is independent of the parser that the tests compare with it.
const (
	gPct      = `%[0-9A-Fa-f]{2}`
	gChar     = `A-Za-z0-9._~!$&'()*+,;=\-` // unreserved and sub-delims
	gUserinfo = `(?:[` + gChar + `:]|` + gPct + `)*`
	gRegName  = `(?:[` + gChar + `]|` + gPct + `)*`
	gPchar    = `(?:[` + gChar + `:@]|` + gPct + `)`
	gNoColon  = `(?:[` + gChar + `@]|` + gPct + `)`
	gQuery    = `(?:[` + gChar + `:@/?]|` + gPct + `)*`
	gScheme   = `[A-Za-z][A-Za-z0-9+.-]*`

	gOctet  = `(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	gIPv4   = gOctet + `(?:\.` + gOctet + `){3}`
	gH16    = `[0-9A-Fa-f]{1,4}`
	gLs32   = `(?:` + gH16 + `:` + gH16 + `|` + gIPv4 + `)`
	gGroup  = `(?:` + gH16 + `:)`
	gFuture = `[vV][0-9A-Fa-f]+\.[` + gChar + `:]+`
	gZone   = `%25(?:[A-Za-z0-9._~-]|` + gPct + `)+`

	gIPv6 = `(?:` + gGroup + `{6}` + gLs32 +
		`|::` + gGroup + `{5}` + gLs32 +
		`|(?:` + gH16 + `)?::` + gGroup + `{4}` + gLs32 +
		`|(?:` + gGroup + `{0,1}` + gH16 + `)?::` + gGroup + `{3}` + gLs32 +
		`|(?:` + gGroup + `{0,2}` + gH16 + `)?::` + gGroup + `{2}` + gLs32 +
		`|(?:` + gGroup + `{0,3}` + gH16 + `)?::` + gGroup + gLs32 +
		`|(?:` + gGroup + `{0,4}` + gH16 + `)?::` + gLs32 +
		`|(?:` + gGroup + `{0,5}` + gH16 + `)?::` + gH16 +
		`|(?:` + gGroup + `{0,6}` + gH16 + `)?::)`

	gSegments = `(?:/` + gPchar + `*)*`
	gAbsolute = `/(?:` + gPchar + `+` + gSegments + `)?`
)

// A grammar is the grammar of RFC 3986 with or without zone identifiers.
type grammar struct {
	production map[Production]*regexp.Regexp
	authority  *regexp.Regexp // groups: userinfo, host, port
}

// newGrammar returns the grammar with the given pattern for zone identifiers.
func newGrammar(zone string) grammar {
	literal := `\[(?:` + gIPv6 + zone + `|` + gFuture + `)\]`
	authority := `(?:` + gUserinfo + `@)?(?:` + literal + `|` + gRegName + `)(?::[0-9]*)?`
	hier := `(?://` + authority + gSegments + `|` + gAbsolute + `|` + gPchar + `+` + gSegments + `|)`
	part := `(?://` + authority + gSegments + `|` + gAbsolute + `|` + gNoColon + `+` + gSegments + `|)`
	query, fragment := `(?:\?`+gQuery+`)?`, `(?:#`+gQuery+`)?`
	absolute := gScheme + `:` + hier + query
	relative := part + query + fragment
	whole := func(s string) *regexp.Regexp { return regexp.MustCompile(`\A(?:` + s + `)\z`) }
	return grammar{
		production: map[Production]*regexp.Regexp{
			FullURI:      whole(absolute + fragment),
			AbsoluteURI:  whole(absolute),
			RelativeRef:  whole(relative),
			URIReference: whole(absolute + fragment + `|` + relative),
			IPv4Address:  whole(gIPv4),
			IPv6Address:  whole(gIPv6),
		},
		authority: whole(`(?:(` + gUserinfo + `)@)?(` + literal + `|` + gRegName + `)(?::([0-9]*))?`),
	}
}

var (
	strictGrammar = newGrammar("")
	zoneGrammar   = newGrammar(`(?:` + gZone + `)?`)

	// appendixB splits any string into components (RFC 3986 appendix B).
	appendixB = regexp.MustCompile(`(?s)^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?`)
)

// split returns the components of a valid s in the form of [components].
func (g grammar) split(s string) map[string]any {
	m := map[string]any{}
	group := func(match []int, s, name string, i int) {
		m[name] = nil
		if match != nil && match[2*i] >= 0 {
			m[name] = s[match[2*i]:match[2*i+1]]
		}
	}
	match := appendixB.FindStringSubmatchIndex(s)
	for name, i := range map[string]int{"scheme": 2, "authority": 4, "path": 5, "query": 7, "fragment": 9} {
		group(match, s, name, i)
	}
	authority, ok := m["authority"].(string)
	match = nil
	if ok {
		match = g.authority.FindStringSubmatchIndex(authority)
	}
	for name, i := range map[string]int{"userinfo": 1, "host": 2, "port": 3} {
		group(match, authority, name, i)
	}
	return m
}

// slowDots implements RFC 3986 section 5.2.4 step by step.
func slowDots(in string) string {
	out := ""
	up := func() { out = out[:max(0, strings.LastIndexByte(out, '/'))] }
	for in != "" {
		switch {
		case strings.HasPrefix(in, "../"): // A
			in = in[3:]
		case strings.HasPrefix(in, "./"):
			in = in[2:]
		case strings.HasPrefix(in, "/./"): // B
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"): // C
			in = in[3:]
			up()
		case in == "/..":
			in = "/"
			up()
		case in == "." || in == "..": // D
			in = ""
		default: // E
			n := strings.IndexByte(in[1:], '/') + 1
			if n == 0 {
				n = len(in)
			}
			out, in = out+in[:n], in[n:]
		}
	}
	return out
}

// slowDraftDots implements the removal of dot segments in both drafts. It first
// removes each ".", then each segment before a "..", from left to right. A
// leading slash does not end a segment.
func slowDraftDots(s string) string {
	for {
		root, rest := "", s
		if strings.HasPrefix(s, "/") {
			root, rest = "/", s[1:]
		}
		segments := strings.Split(rest, "/")
		from := slices.Index(segments, ".")
		to := from
		for i := 1; i < len(segments) && from < 0; i++ {
			if segments[i] == ".." && segments[i-1] != ".." {
				from, to = i-1, i
			}
		}
		if from < 0 {
			return s
		}
		if to == len(segments)-1 {
			segments = append(segments, "")
		}
		s = root + strings.Join(slices.Delete(segments, from, to+1), "/")
	}
}
