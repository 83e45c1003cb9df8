package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/uri"
)

// A name is the first part of a host name that represents an archived origin:
// SCHEME[-PORT].HOST.TIMESTAMP.ARCHIVE, before ".localhost". Browsers treat each
// host name as a separate origin, so archived origins are separated like the
// original ones.
type name struct {
	archive *archive
	time    time.Time // the captures nearest to this time are shown
	scheme  string    // http or https
	host    string    // archived host without a port
	port    string    // archived port, or "" for the default port of the scheme
}

// topDomain ends all host names. Browsers resolve it to loopback without DNS
// (RFC 6761 section 6.3), and treat its origins as secure contexts.
const topDomain = ".localhost"

// timeForm is the format of the time in a host name.
const timeForm = "20060102150405"

var (
	plainHost  = lazy.Regexp(`^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$`)
	storedHost = lazy.Regexp(`^x-[0-9a-f]{32}$`)
	schemePort = lazy.Regexp(`^(https?)(?:-([0-9]{1,5}))?$`)
)

// maxPlainHost is the maximum length of a host that is part of a host name
// unchanged. A host name has at most 253 bytes.
const maxPlainHost = 160

// A hostTable stores the hosts that cannot be part of a host name: IPv6
// addresses and long names. It is safe for concurrent use.
type hostTable struct {
	mu     sync.Mutex
	stored map[string]string // hosts by their names
	size   int               // bytes of all hosts
}

// Limits of a hostTable.
const (
	maxStored      = 10_000  // hosts
	maxStoredBytes = 1 << 20 // bytes of all hosts
)

// encode returns the part of a host name for a host. The result ok is false if
// the table is full.
func (t *hostTable) encode(host string) (encoded string, ok bool) {
	if len(host) <= maxPlainHost && plainHost().MatchString(host) && !storedHost().MatchString(host) {
		return host, true
	}
	digest := sha256.Sum256([]byte(host))
	encoded = "x-" + hex.EncodeToString(digest[:16])
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.stored[encoded]; known {
		return encoded, true
	}
	if len(t.stored) >= maxStored || t.size+len(host) > maxStoredBytes {
		return "", false
	}
	if t.stored == nil {
		t.stored = map[string]string{}
	}
	t.stored[encoded] = strings.Clone(host) // the host can be a part of a large text
	t.size += len(host)
	return encoded, true
}

// decode returns the host for a part of a host name. The result ok is false if
// the table does not contain the host.
func (t *hostTable) decode(encoded string) (host string, ok bool) {
	if !storedHost().MatchString(encoded) {
		return encoded, len(encoded) <= maxPlainHost && plainHost().MatchString(encoded)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	host, ok = t.stored[encoded]
	return host, ok
}

// parseName parses a host name without topDomain.
func (s *Site) parseName(text string) (n name, ok bool) {
	labels := strings.Split(text, ".")
	if len(labels) < 4 {
		return n, false
	}
	end := len(labels) - 2
	m := schemePort().FindStringSubmatch(labels[0])
	if n.archive = s.archives[labels[end+1]]; n.archive == nil || m == nil || len(labels[end]) != len(timeForm) {
		return n, false
	}
	var err error
	if n.time, err = time.Parse(timeForm, labels[end]); err != nil {
		return n, false
	}
	n.scheme, n.port = m[1], m[2]
	if number, err := strconv.ParseUint(n.port, 10, 16); n.port != "" && (err != nil || strconv.FormatUint(number, 10) != n.port) {
		return n, false
	}
	if n.hasDefaultPort() {
		return n, false // the same origin has a host name without the port
	}
	n.host, ok = s.hosts.decode(strings.Join(labels[1:end], "."))
	return n, ok
}

// group returns the end of the host names of all origins that are shown
// together, with the port of the listener.
func (s *Site) group(n name) string {
	return "." + n.time.Format(timeForm) + "." + n.archive.label + topDomain + ":" + s.port
}

// hostOf returns the host name and port that represent n. It returns "" if no
// host name can represent n.
func (s *Site) hostOf(n name) string {
	host, ok := s.hosts.encode(n.host)
	if !ok {
		return ""
	}
	scheme := n.scheme
	if n.port != "" {
		scheme += "-" + n.port
	}
	return scheme + "." + host + s.group(n)
}

// urlOf returns the URL that shows the capture of u together with the captures of
// n. It returns "" for other schemes than http and https.
func (s *Site) urlOf(n name, u uri.URI) string {
	if !n.setOrigin(u) {
		return ""
	}
	host := s.hostOf(n)
	if host == "" {
		return ""
	}
	return "http://" + host + targetOf(u)
}

// setOrigin sets the archived origin of n to the origin of u. It returns false if
// u is not a http or https URL with a host.
func (n *name) setOrigin(u uri.URI) bool {
	n.scheme = u.Scheme()
	if !IsShown(u) || u.Host() == "" {
		return false
	}
	n.host = strings.ToLower(u.Host())
	n.port, _ = u.Port()
	if n.hasDefaultPort() {
		n.port = ""
	}
	return true
}

// hasDefaultPort reports whether port is the default port of the scheme.
func (n name) hasDefaultPort() bool {
	return n.scheme == "http" && n.port == "80" || n.scheme == "https" && n.port == "443"
}

// origin returns the archived origin of n, such as "https://a.example:8443".
func (n name) origin() string {
	if n.port == "" {
		return n.scheme + "://" + n.host
	}
	return n.scheme + "://" + n.host + ":" + n.port
}

// targetOf returns the path and the query of u.
func targetOf(u uri.URI) string {
	path := u.Path()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if query, ok := u.Query(); ok {
		path += "?" + query
	}
	return path
}

// splitHost returns the name and the port in a Host field.
func splitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return strings.ToLower(host), "80"
	}
	return strings.ToLower(name), port
}

// maxLabel is the maximum length of the part of a host name for an archive.
const maxLabel = 30

// labelOf returns the part of a host name for an archive with the given name. It
// adds the result to used.
func labelOf(used map[string]*archive, name string) string {
	label := strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && plainHost().MatchString(string(r)) && r != '_' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
	label = strings.Trim(label[:min(len(label), maxLabel)], "-")
	if label == "" {
		label = "archive"
	}
	unique := label
	for n := 2; used[unique] != nil; n++ {
		unique = label + "-" + strconv.Itoa(n)
	}
	return unique
}
