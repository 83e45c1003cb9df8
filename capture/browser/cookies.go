package browser

import (
	"encoding/json"
	"strings"

	"github.com/anyurl/fetch/uri"
)

// Cookies returns the value of a Cookie field with the cookies of the profile
// that belong to u, or "".
func (b *Browser) Cookies(u uri.URI) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, text := range b.current.cookies {
		var c struct {
			Name, Value, Domain, Path string
			Secure                    bool
		}
		if json.Unmarshal(text, &c) == nil && matches(c.Domain, c.Path, u) && (!c.Secure || u.Scheme() == "https") {
			all = append(all, c.Name+"="+c.Value)
		}
	}
	return strings.Join(all, "; ")
}

// matches reports whether a cookie with a domain and a path belongs to u (RFC
// 6265 section 5.1).
func matches(domain, path string, u uri.URI) bool {
	host := strings.ToLower(u.Host())
	if parent, ok := strings.CutPrefix(domain, "."); ok {
		if host != parent && !strings.HasSuffix(host, domain) {
			return false
		}
	} else if host != domain {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path(), strings.TrimSuffix(path, "/"))
	return ok && (rest == "" || strings.HasPrefix(rest, "/")) || path == "/"
}
