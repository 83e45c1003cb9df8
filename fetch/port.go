package fetch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// blockedPorts lists the ports that browsers block (WHATWG Fetch standard,
// section 2.9).
var blockedPorts = []uint16{
	0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
	109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
	526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
	3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}

// textServices lists the ports above 1023 of services that execute lines of
// text as commands. A Gopher selector or a path could contain such commands.
var textServices = []uint16{
	1080, 1433, 1521, 2181, 2375, 2376, 2379, 2380, 2601, 2602, 2603, 2604, 2605, 3128, 3306, 4369, 5432, 5555,
	5672, 5900, 5901, 5902, 5903, 5984, 6379, 6380, 6443, 7001, 8009, 8086, 8125, 8500, 9000, 9042, 9092, 9100,
	9200, 9300, 9418, 10250, 10255, 11211, 15672, 25672, 27017, 27018, 27019, 28017, 50000, 61613,
}

// amplifiers lists the UDP ports of services that send many datagrams in
// response to one.
var amplifiers = []uint16{53, 123, 161, 1434, 1900, 3283, 3702, 5351, 5353, 5683, 11211}

// A PortRule allows a port that the Policy denies by default.
type PortRule struct {
	Scheme string // "" means every scheme
	Port   uint16
	Any    bool // also allow the port in links and redirects
}

// ParsePortRule parses a rule such as "gopher:7070" or "25". The suffix ":any"
// also allows the port in links and redirects. The error has the Fault Usage.
func ParsePortRule(s string) (PortRule, error) {
	text, anyone := strings.CutSuffix(s, ":any")
	r := PortRule{Any: anyone}
	valid := true
	if scheme, port, ok := strings.Cut(text, ":"); ok {
		u, err := uri.Parse(scheme + ":")
		r.Scheme, text, valid = u.Scheme(), port, err == nil && u.Scheme() != ""
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if !valid || err != nil || n == 0 {
		return PortRule{}, Usage.Errorf("port rule %q is not SCHEME:PORT", s)
	}
	r.Port = uint16(n)
	return r, nil
}

// portVerdict returns the rule that blocks a port for the scheme s, as a key of
// portRules. It returns "" if the port is allowed. The result unusual is true
// if the Client should report an allowed port to the user.
func (p *Policy) portVerdict(s *Scheme, port uint16, typed bool) (rule string, unusual bool) {
	class := s.Ports.Class
	web := class == scheme.WebPorts && (typed || p.WebPorts)
	switch {
	case port == 0:
		return "range", false
	case p.allowsPort(s.Name, port, typed):
		return "", false
	case port == s.Port || slices.Contains(s.Ports.Extra, port):
		return "", false
	case web && !slices.Contains(blockedPorts, port):
		return "", port < 1024
	case web:
		return "bad", false
	case port < 1024:
		return "reserved", false
	case class == scheme.OwnPorts, class == scheme.SessionPorts && !typed:
		return "needs-allow", false
	case slices.Contains(blockedPorts, port):
		return "bad", false
	case class != scheme.WebPorts && slices.Contains(textServices, port):
		return "text-service", false
	}
	return "", class == scheme.SessionPorts
}

func (p *Policy) allowsPort(scheme string, port uint16, typed bool) bool {
	return slices.ContainsFunc(p.Ports, func(r PortRule) bool {
		return r.Port == port && (r.Scheme == "" || r.Scheme == scheme) && (typed || r.Any)
	})
}

// portRules maps the result of portVerdict to its text in error messages.
var portRules = map[string]string{
	"range":        "port out of range",
	"reserved":     "port below 1024 belongs to another service",
	"bad":          "port of a service that browsers block",
	"text-service": "port of a service that acts on text",
	"needs-allow":  "port is not a default port of the scheme",
}
