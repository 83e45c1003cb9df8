package prospero

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A host is the server of a link: "NAME" or "NAME(PORT)".
type host struct {
	name string // IP literals have brackets
	port uint16 // 0: the default port
}

// hostOf parses the host of a link. A server may call itself localhost, which
// is replaced by the host of the URL of the directory.
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

// maxURL is the maximum length of a URL in bytes.
const maxURL = 64 << 10

// url returns a URL with the given scheme and path on h. It omits the default
// port.
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
