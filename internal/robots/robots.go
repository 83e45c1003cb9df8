// Package robots reads the rules that a site sets for robots: robots.txt
// (RFC 9309) and, of Gopher sites, caps.txt.
//
// Call Parse, then File.Allowed before each request. Crawl-delay is read too:
// no RFC has it, but sites mean it.
package robots

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
)

// MaxSize is how much of a file counts, in bytes: what RFC 9309 2.5 asks for.
// Of a longer one the lines count that end within.
const MaxSize = 500 << 10

// A File is what one robots.txt says. The zero File allows everything. It is
// safe for concurrent use.
type File struct {
	groups []group
	size   int
}

// A group is rules and those whom they are for (RFC 9309 2.2).
type group struct {
	agents []agent
	rules  []rule
}

type agent struct {
	token string // in lower case; "*" is everybody who is not named
	delay time.Duration
}

type rule struct {
	allow   bool
	pattern string // in its normal form
}

// Parse reads a robots.txt. Lines that it does not understand it passes over,
// so that every text is one; the error is that of r.
func Parse(r io.Reader) (*File, error) {
	f := &File{}
	fresh := false // the last group has no rule yet: it may get further agents
	err := lines(r, func(line string) {
		key, value, ok := field(line, ":")
		switch {
		case !ok:
		case strings.EqualFold(key, "user-agent"):
			if !fresh {
				f.groups, fresh = append(f.groups, group{}), true
			}
			g := &f.groups[len(f.groups)-1]
			g.agents = append(g.agents, agent{token: everybodyOr(value)})
			f.size += 64
		case len(f.groups) == 0: // for nobody
		case strings.EqualFold(key, "allow"), strings.EqualFold(key, "disallow"):
			fresh = false
			f.add(rule{len(key) == len("allow"), normalPattern(value)})
		case strings.EqualFold(key, "crawl-delay"):
			f.delay(value)
		}
	})
	return f, err
}

// add gives r to the last group. An empty pattern matches nothing.
func (f *File) add(r rule) {
	if r.pattern == "" {
		return
	}
	g := &f.groups[len(f.groups)-1]
	g.rules = append(g.rules, r)
	f.size += 64 + len(r.pattern)
}

// delay is for those agents of the last group that stand before it: it is no
// rule and so does not end their list.
func (f *File) delay(value string) {
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

// lines calls do for each line of r without its end and its comment: CR, LF
// and CRLF end one (RFC 9309 2.2), and a byte order mark is none of it.
func lines(r io.Reader, do func(string)) error {
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

// everybodyOr is the product token of the value of a user-agent line, or "*".
func everybodyOr(value string) string {
	if name, _, _ := strings.Cut(strings.ReplaceAll(value, "\t", " "), " "); name == "*" {
		return "*"
	}
	return productToken(value)
}

// productToken is the token that name begins with, in lower case: "fetch" of
// "Fetch/1.0" (RFC 9309 2.2.1).
func productToken(name string) string {
	end := strings.IndexFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '-' || r == '_')
	})
	if end >= 0 {
		name = name[:end]
	}
	return strings.ToLower(name)
}

// Allowed reports whether agent, a product token that a version may follow,
// may ask for path: the path of a URL with its query, encoded as it is there.
// Of the rules that match, the longest counts, and of two as long the one that
// allows. /robots.txt itself is always allowed.
func (f *File) Allowed(agent, path string) bool {
	if path == "/robots.txt" {
		return true
	}
	path = normalPath(path)
	allowed, longest := true, 0
	f.each(agent, func(g *group, _ time.Duration) {
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

// Delay is how long agent is asked to wait between two requests, or zero.
func (f *File) Delay(agent string) (longest time.Duration) {
	f.each(agent, func(_ *group, d time.Duration) { longest = max(longest, d) })
	return longest
}

// Empty reports whether f says nothing to anybody.
func (f *File) Empty() bool { return len(f.groups) == 0 }

// Size is about what f takes in memory, in bytes.
func (f *File) Size() int { return f.size }

// each calls do for the groups that are for name, which count as one: those
// that have its token or, where there are none, those for everybody.
func (f *File) each(name string, do func(g *group, delay time.Duration)) {
	token := productToken(name)
	if token == "" || !f.names(token, do) {
		f.names("*", do)
	}
}

func (f *File) names(token string, do func(*group, time.Duration)) (found bool) {
	for i := range f.groups {
		g := &f.groups[i]
		mine, delay := false, time.Duration(0)
		for _, a := range g.agents {
			if a.token == token {
				mine, delay = true, max(delay, a.delay)
			}
		}
		if mine {
			found = true
			do(g, delay)
		}
	}
	return found
}
