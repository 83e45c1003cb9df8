package prospero

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A host is where a link leads: "NAME", or "NAME(PORT)".
type host struct {
	name string // with the brackets of an IP literal
	port uint16 // 0: the usual one
}

// hostOf reads text as base, which it was found at, means it: a server that
// calls itself localhost is not ours.
func hostOf(text string, base uri.URI) (host, bool) {
	name, number, ok := strings.Cut(text, "(")
	h := host{name: strings.ToLower(strings.TrimSuffix(name, "."))}
	if ok {
		n, err := strconv.ParseUint(strings.TrimSuffix(number, ")"), 10, 16)
		if err != nil || n == 0 || !strings.HasSuffix(number, ")") {
			return h, false
		}
		h.port = uint16(n)
	}
	if isLocal(h.name) {
		h.name = base.Host()
	}
	return h, h.name != ""
}

func isLocal(name string) bool {
	a, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && (a.IsLoopback() || a.IsUnspecified())
}

// maxURL bounds a URL in bytes: a Client takes no longer ones.
const maxURL = 64 << 10

// url writes a URL at h; usual is the port that need not be said.
func (h host) url(scheme string, usual uint16, path string) (uri.URI, bool) {
	if len(path) > maxURL {
		return uri.URI{}, false
	}
	p := uri.Parts{Scheme: scheme, HasAuthority: true, Host: h.name, Path: path}
	if h.port != 0 && h.port != usual {
		p.Port = strconv.FormatUint(uint64(h.port), 10)
	}
	u, err := uri.Build(p)
	return u, err == nil
}
