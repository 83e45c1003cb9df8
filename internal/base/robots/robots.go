// Package robots parses the rules of a site for crawlers: robots.txt (RFC 9309)
// and, for Gopher sites, caps.txt.
//
// Call Parse once for each site, and File.Allowed before each request. The
// package also supports the common extension Crawl-delay.
package robots

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
)

// MaxSize is the maximum number of bytes of a file that are parsed (RFC 9309
// section 2.5). In a longer file, Parse uses the lines that end within this
// limit.
const MaxSize = 500 << 10

// A File is a parsed robots.txt file. The zero File allows all requests. A File
// is safe for concurrent use.
type File struct {
	groups []group
	size   int
}

// A group is a set of rules and the user agents to which they apply (RFC 9309
// section 2.2).
type group struct {
	agents []agent
	rules  []rule
}

type agent struct {
	token string // product token in lower case, or "*" for all other agents
	delay time.Duration
}

type rule struct {
	allow   bool
	pattern string // in normal form
}

// Parse parses a robots.txt file. It ignores invalid lines, so that any text is
// valid. The error is an error of r.
func Parse(r io.Reader) (*File, error) {
	f := &File{}
	isNew := false // the last group has no rules yet and may get more agents
	err := forEachLine(r, func(line string) {
		key, value, ok := field(line, ":")
		switch {
		case !ok:
		case strings.EqualFold(key, "user-agent"):
			if !isNew {
				f.groups, isNew = append(f.groups, group{}), true
			}
			g := &f.groups[len(f.groups)-1]
			g.agents = append(g.agents, agent{token: agentToken(value)})
			f.size += 64
		case len(f.groups) == 0: // a rule before the first user agent applies to no agent
		case strings.EqualFold(key, "allow"), strings.EqualFold(key, "disallow"):
			isNew = false
			f.addRule(rule{len(key) == len("allow"), normalizePattern(value)})
		case strings.EqualFold(key, "crawl-delay"):
			f.setDelay(value)
		}
	})
	return f, err
}

// addRule adds r to the last group. It ignores an empty pattern, which matches
// no path.
func (f *File) addRule(r rule) {
	if r.pattern == "" {
		return
	}
	g := &f.groups[len(f.groups)-1]
	g.rules = append(g.rules, r)
	f.size += 64 + len(r.pattern)
}

// setDelay applies the value of a Crawl-delay line to the agents that precede
// it in the last group. The line is not a rule, so more agents may follow it.
func (f *File) setDelay(value string) {
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || !(s >= 0) {
		return
	}
	d := time.Duration(min(s, 24*3600) * float64(time.Second))
	g := &f.groups[len(f.groups)-1]
	for i := range g.agents {
		g.agents[i].delay = max(g.agents[i].delay, d)
	}
}

// forEachLine calls do for each line of r without its line ending and its
// comment. A line ends in CR, LF or CRLF (RFC 9309 section 2.2). A byte order
// mark is skipped.
func forEachLine(r io.Reader, do func(string)) error {
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if len(text) > MaxSize {
		text = text[:bytes.LastIndexAny(text[:MaxSize], "\r\n")+1]
	}
	rest := strings.TrimPrefix(string(text), "\ufeff")
	for rest != "" {
		line := rest
		if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		} else {
			rest = ""
		}
		line, _, _ = strings.Cut(line, "#")
		do(line)
	}
	return err
}

func field(line, separator string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, separator)
	return strings.Trim(key, " \t"), strings.Trim(value, " \t"), ok
}

// agentToken returns the product token of a user-agent line, or "*".
func agentToken(value string) string {
	if name, _, _ := strings.Cut(strings.ReplaceAll(value, "\t", " "), " "); name == "*" {
		return "*"
	}
	return productToken(value)
}

// productToken returns the product token at the start of name in lower case
// (RFC 9309 section 2.2.1). For example, the token of "Fetch/1.0" is "fetch".
func productToken(name string) string {
	end := strings.IndexFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '-' || r == '_')
	})
	if end >= 0 {
		name = name[:end]
	}
	return strings.ToLower(name)
}

// Allowed reports whether agent may request path. agent is a product token,
// which may be followed by a version. path is the percent-encoded path and
// query of a URL. The longest matching rule applies, and an allow rule takes
// precedence over a disallow rule of the same length. /robots.txt is always
// allowed.
func (f *File) Allowed(agent, path string) bool {
	if path == "/robots.txt" {
		return true
	}
	path = normalizePath(path)
	allowed, longest := true, 0
	f.forEachGroup(agent, func(g *group, _ time.Duration) {
		for _, r := range g.rules {
			n := len(r.pattern)
			if n < longest || n == longest && (allowed || !r.allow) || !match(r.pattern, path) {
				continue
			}
			allowed, longest = r.allow, n
		}
	})
	return allowed
}

// Delay returns the minimum time between two requests of agent, or zero if the
// file does not set one.
func (f *File) Delay(agent string) (longest time.Duration) {
	f.forEachGroup(agent, func(_ *group, d time.Duration) { longest = max(longest, d) })
	return longest
}

// Empty reports whether f contains no rules for any agent.
func (f *File) Empty() bool { return len(f.groups) == 0 }

// Size returns the approximate memory size of f in bytes.
func (f *File) Size() int { return f.size }

// forEachGroup calls do for the groups that apply to the agent called name. If
// no group lists the product token of the agent, the groups for "*" apply.
func (f *File) forEachGroup(name string, do func(g *group, delay time.Duration)) {
	token := productToken(name)
	if token == "" || !f.forEachGroupOf(token, do) {
		f.forEachGroupOf("*", do)
	}
}

// forEachGroupOf calls do for each group that lists token, and reports whether
// any group does.
func (f *File) forEachGroupOf(token string, do func(*group, time.Duration)) (found bool) {
	for i := range f.groups {
		g := &f.groups[i]
		applies, delay := false, time.Duration(0)
		for _, a := range g.agents {
			if a.token == token {
				applies, delay = true, max(delay, a.delay)
			}
		}
		if applies {
			found = true
			do(g, delay)
		}
	}
	return found
}
