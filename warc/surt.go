package warc

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Key returns the sort key of a URL in an index. For http and https, the key is
// the Sort-friendly URI Reordering Transform (SURT) of warcio and pywb, such as
// "org,example)/path?a=1&b=2". The key is in lower case, has no leading "www."
// and has sorted query parameters. For other schemes, the key is the URL.
func Key(url string) string {
	scheme, rest, ok := strings.Cut(url, ":")
	if !ok || scheme != "http" && scheme != "https" {
		return url
	}
	rest = trimWWW(rest)
	key, ok := surt(scheme, strings.ToLower(rest))
	if !ok {
		return scheme + ":" + rest
	}
	return key
}

// trimWWW removes "www." from the start of the host, as well as "www2." and
// similar labels.
func trimWWW(rest string) string {
	host, ok := strings.CutPrefix(rest, "//www")
	if !ok {
		return rest
	}
	if host, ok = strings.CutPrefix(strings.TrimLeft(host, "0123456789"), "."); !ok {
		return rest
	}
	return "//" + host
}

// lineBreaks removes tabs and line breaks, which the WHATWG URL standard
// ignores.
var lineBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// surt returns the SURT key of an http or https URL. The parameter rest is the
// URL after the scheme. It is parsed according to the WHATWG URL standard.
func surt(scheme, rest string) (string, bool) {
	rest = strings.TrimRightFunc(rest, func(r rune) bool { return r <= ' ' })
	rest = lineBreaks.Replace(rest)
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	rest = strings.TrimLeft(strings.ReplaceAll(rest, `\`, "/"), "/")
	authority, path, _ := strings.Cut(rest, "/")
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host, port, ok := hostPort(scheme, authority)
	if !ok {
		return "", false
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	key := strings.Join(labels, ",") + port + ")" + surtPath(path)
	if query != "" {
		args := strings.Split(escape(query, ` "#<>'`), "&")
		slices.Sort(args)
		key += "?" + strings.Join(args, "&")
	}
	return key, true
}

// hostPort returns the normalized host and port of an authority. The port is
// ":port", or "" if it is the default port of the scheme.
func hostPort(scheme, authority string) (host, port string, ok bool) {
	host = authority
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port = authority[:colon], authority[colon+1:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return "", "", false
		}
		port = ":" + strconv.FormatUint(n, 10)
		if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
			port = ""
		}
	}
	if inner, literal := strings.CutPrefix(host, "["); literal {
		host, ok = ipv6(strings.TrimSuffix(inner, "]"))
		return host, port, ok
	}
	host, ok = normalizeDomain(host)
	return host, port, ok
}

func ipv6(s string) (string, bool) {
	addr, err := netip.ParseAddr(s)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", false
	}
	text := addr.String()
	if addr.Is4In6() { // the WHATWG URL standard writes hexadecimal groups
		b := addr.As16()
		text = "::ffff:" + strconv.FormatUint(uint64(b[12])<<8|uint64(b[13]), 16) +
			":" + strconv.FormatUint(uint64(b[14])<<8|uint64(b[15]), 16)
	}
	return "[" + text + "]", true
}

// maxHost is the maximum length of a host name in bytes. It prevents quadratic
// time in IDNA processing. A valid host name has at most 255 bytes.
const maxHost = 4 << 10

func normalizeDomain(host string) (string, bool) {
	host = unescape(host)
	if len(host) > maxHost {
		return "", false
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		var err error
		profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.StrictDomainName(false))
		if host, err = profile.ToASCII(host); err != nil {
			return "", false
		}
	}
	host = strings.ToLower(host)
	forbidden := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%`, r) }
	if host == "" || strings.ContainsFunc(host, forbidden) {
		return "", false
	}
	return ipv4(host)
}

// ipv4 converts a host name whose last label is numeric to an IPv4 address. For
// example, it converts "0x7f.1" to "127.0.0.1".
func ipv4(host string) (string, bool) {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	if _, ok := parseNumber(labels[len(labels)-1]); !ok && strings.Trim(labels[len(labels)-1], "0123456789") != "" {
		return host, true
	}
	if last := labels[len(labels)-1]; last == "" {
		return host, true
	}
	var addr uint64
	for i, label := range labels {
		n, ok := parseNumber(label)
		limit := uint64(1) << 8
		if i == len(labels)-1 {
			limit = 1 << (8 * max(5-len(labels), 0))
		}
		if !ok || n >= limit || len(labels) > 4 {
			return "", false
		}
		if i == len(labels)-1 {
			addr |= n
		} else {
			addr |= n << (24 - 8*i)
		}
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}).String(), true
}

func parseNumber(label string) (uint64, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		if hex == "" {
			return 0, true
		}
		label, base = hex, 16
	} else if len(label) > 1 && label[0] == '0' {
		label, base = label[1:], 8
	}
	n, err := strconv.ParseUint(label, base, 64)
	return n, err == nil
}

// surtPath removes dot segments from a path and escapes the path. A dot segment
// can be percent-encoded.
func surtPath(path string) string {
	var out []string
	segments := strings.Split(path, "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(s, "%2e", ".") {
		case ".":
			if last {
				out = append(out, "")
			}
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, escape(s, " \"#<>?`{}"))
		}
	}
	return "/" + strings.Join(out, "/")
}

// escape percent-encodes control characters, non-ASCII bytes and all bytes that
// occur in set.
func escape(s, set string) string {
	const hex = "0123456789ABCDEF"
	escapes := func(c byte) bool { return c < ' ' || c >= 0x7f || strings.IndexByte(set, c) >= 0 }
	if !slices.ContainsFunc([]byte(s), escapes) {
		return s
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if escapes(c) {
			b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape decodes percent-encoded bytes. It does not change invalid escapes.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}
