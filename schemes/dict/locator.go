package dict

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A verb is the kind of object that a URL names.
type verb uint8

const (
	define     verb = iota // definitions of a word
	match                  // words that match the given word
	databases              // list of databases
	strategies             // list of matching strategies
	database               // description of a database
	server                 // description of the server
	status                 // state of the server
	manual                 // list of commands
)

// A locator contains the parts of a dict URL.
type locator struct {
	verb     verb
	word     string
	database string // "!" stops at the first database with a match, "*" means all
	strategy string // "." is the default of the server
	nth      int    // number of the only definition or match to return, or 0
}

func (l locator) isQuery() bool { return l.verb == define || l.verb == match }

var errNoWord = fetch.NeedQuery.Errorf("dictionary requires a word, such as dict://HOST/d:WORD")

// verbs maps the first part of a path to its meaning. The long names are those
// of curl.
var verbs = map[string]verb{
	"d": define, "define": define, "lookup": define, "m": match, "match": match, "find": match,
	"status": status, "help": manual,
}

// shows maps the second part of a path that starts with "show" to its meaning.
var shows = map[string]verb{
	"db": databases, "databases": databases, "strat": strategies, "strategies": strategies,
	"info": database, "server": server,
}

// locate parses a dict URL: d:WORD[:DATABASE[:N]],
// m:WORD[:DATABASE[:STRATEGY[:N]]], or one of the commands of the protocol
// without a word, with ":" in place of spaces.
func locate(u uri.URI) (l locator, err error) {
	if _, ok := u.Query(); ok {
		return l, fetch.BadURL.Errorf(`dict URL must not have a query: write "?" as %%3F`)
	}
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("dict URL must have a host, such as dict://HOST/d:WORD")
	}
	path := strings.TrimPrefix(u.Path(), "/")
	if path == "" {
		return locator{verb: databases}, nil
	}
	parts := strings.Split(path, ":")
	for i, p := range parts {
		if parts[i], err = uri.Unescape(p); err != nil {
			return l, fetch.BadURL.With(err)
		}
		if textform.HasControl(parts[i]) {
			return l, fetch.BadURL.Errorf("control character in a dict URL")
		}
	}
	name := strings.ToLower(parts[0])
	if name == "show" && len(parts) > 1 {
		return locateShow(parts[1:])
	}
	v, ok := verbs[name]
	if !ok {
		return l, fetch.BadURL.Errorf("dict URL must start with d:, m: or show:, such as dict://HOST/d:WORD")
	}
	return locator{verb: v}.withArguments(parts[1:])
}

func locateShow(parts []string) (l locator, err error) {
	v, ok := shows[strings.ToLower(parts[0])]
	switch {
	case !ok:
		return l, fetch.BadURL.Errorf("dict URL must be show:db, show:strat, show:info:DATABASE or show:server")
	case v == database && len(parts) == 2 && parts[1] != "":
		return locator{verb: v, database: parts[1]}, nil
	case v == database, len(parts) > 1:
		return l, errParts
	}
	return locator{verb: v}, nil
}

var errParts = fetch.BadURL.Errorf("wrong number of parts in a dict URL")

// withArguments parses the parts of a path after the verb.
func (l locator) withArguments(parts []string) (locator, error) {
	fields := []*string{}
	var nth string
	switch l.verb {
	case define:
		l.database = "!"
		fields = []*string{&l.word, &l.database, &nth}
	case match:
		l.database, l.strategy = "!", "."
		fields = []*string{&l.word, &l.database, &l.strategy, &nth}
	}
	if len(parts) > len(fields) {
		return l, errParts
	}
	for i, p := range parts {
		if p != "" {
			*fields[i] = p
		}
	}
	if nth != "" {
		n, err := strconv.ParseUint(nth, 10, 31)
		if err != nil || n == 0 {
			return l, fetch.BadURL.Errorf("last part of a dict URL must be a number from 1")
		}
		l.nth = int(n)
	}
	return l, nil
}

// A command is a request of the protocol and the status code of a positive
// reply.
type command struct {
	words []string
	code  int  // status code of a positive reply
	block bool // a text follows the line with code
}

// maxCommand is the maximum length of a command in bytes. RFC 2229 has a limit
// of 1024 characters.
const maxCommand = line.MaxCommand

// command returns the protocol command that retrieves the object of l.
func (l locator) command() (c command, err error) {
	switch l.verb {
	case define:
		c = command{[]string{"DEFINE", atom(l.database), quote(l.word)}, 150, false}
	case match:
		c = command{[]string{"MATCH", atom(l.database), atom(l.strategy), quote(l.word)}, 152, true}
	case databases:
		c = command{[]string{"SHOW", "DB"}, 110, true}
	case strategies:
		c = command{[]string{"SHOW", "STRAT"}, 111, true}
	case database:
		c = command{[]string{"SHOW", "INFO", atom(l.database)}, 112, true}
	case server:
		c = command{[]string{"SHOW", "SERVER"}, 114, true}
	case status:
		c = command{[]string{"STATUS"}, 210, false}
	case manual:
		c = command{[]string{"HELP"}, 113, true}
	}
	if _, err := line.Append(nil, maxCommand, c.words...); err != nil {
		return c, fetch.BadURL.Errorf("%s: %w", c.words[0], err)
	}
	return c, nil
}

// step returns c as a step of a plan.
func (c command) step() scheme.Step {
	return scheme.Step{Verb: c.words[0], Arg: strings.Join(c.words[1:], " ")}
}

// quote returns s as one word of a command (RFC 2229 section 2.2). The program
// dictd does not decode a backslash within quotes. A word with a quote or a
// backslash is therefore sent without quotes, as curl sends all words.
func quote(s string) string {
	if s != "" && strings.ContainsAny(s, "\"\\") {
		return escaper.Replace(s)
	}
	return `"` + s + `"`
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `'`, `\'`, ` `, `\ `)

// atom returns s unchanged if it is an atom, and as a quoted string otherwise.
func atom(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\"'\\") {
		return quote(s)
	}
	return s
}

// query returns the URL that matches the words of q against a database, or
// against all databases if u names no database.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	l, err := locate(u)
	switch {
	case err != nil:
		return uri.URI{}, err
	case textform.HasControl(q.Words):
		return uri.URI{}, fetch.BadURL.Errorf("control character in the search words")
	case l.verb == databases:
		l.database = "*"
	case l.verb == status, l.verb == server, l.verb == manual, l.verb == strategies:
		return uri.URI{}, fetch.Unsupported.Errorf("not a dictionary")
	}
	path := "/m:" + escape(q.Words) + ":" + escape(l.database)
	if l.strategy != "" && l.strategy != "." {
		path += ":" + escape(l.strategy)
	}
	return u.WithoutFragment().WithPath(path)
}

// escape encodes s as a part of a path, where ":" separates the parts.
func escape(s string) string {
	return strings.ReplaceAll(uri.Escape(s, uri.Segment), ":", "%3A")
}
