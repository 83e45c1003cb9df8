package ftp

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/dirlist"
	"github.com/anyurl/fetch/internal/line"
)

// facts are what the control connection tells of a file.
type facts struct {
	size int64      // -1: unknown
	time time.Time  // zero: unknown
	dir  bool       // it is a directory
	no   line.Reply // the 550 of a server that has no such file, or will not say; or zero
	some bool       // there is such a thing
}

// validator names a version of the file: what of size and time can be told
// apart from another version. It is "" where one of them is unknown.
func (f facts) validator() string {
	if f.size < 0 || f.time.IsZero() {
		return ""
	}
	return strconv.FormatInt(f.size, 10) + "-" + f.time.Format(dirlist.TimeVal)
}

// facts asks for what is known of a file, in the TYPE that it will be sent
// in. A size counts for images alone: RFC 3659 4.
func (d *driver) facts(s *session, p path) (facts, error) {
	f := facts{size: -1}
	commands := s.typeCommands(p.kind)
	first := len(commands)
	switch {
	case s.features.has("MLST"):
		commands = append(commands, []string{"MLST", p.name})
	default:
		if !d.IgnoreSize && p.kind == "I" && s.knows("SIZE") {
			commands = append(commands, []string{"SIZE", p.name})
		}
		if s.knows("MDTM") {
			commands = append(commands, []string{"MDTM", p.name})
		}
	}
	replies, err := s.exchange(commands...)
	if err != nil {
		return f, err
	}
	if err := s.setType(p.kind, replies[:first]); err != nil {
		return f, err
	}
	for i, r := range replies[first:] {
		if s.broken {
			return f, refused(commands[first+i][0], r)
		}
		f.learn(commands[first+i][0], r)
	}
	if p.kind != "I" || d.IgnoreSize {
		f.size = -1
	}
	return f, nil
}

// knows reports whether the server has a command, as far as FEAT tells: one
// without FEAT may have any.
func (s *session) knows(command string) bool {
	return len(s.features) == 0 || s.features.has(command)
}

// learn reads the reply to MLST, SIZE or MDTM.
func (f *facts) learn(verb string, r line.Reply) {
	switch {
	case r.Code == 550:
		f.no = r
	case verb == "MLST" && r.Code == 250 && len(r.Lines) > 1:
		e, ok := dirlist.ParseFacts(strings.TrimLeft(r.Lines[1], " "))
		if ok {
			f.size, f.time, f.dir, f.some = e.Size, e.Time, e.Kind == fetch.Menu, true
		}
	case verb == "SIZE" && r.Code == 213:
		f.size = parseSize(r.Lines[0])
		f.some = true
	case verb == "MDTM" && r.Code == 213:
		f.time, _ = dirlist.ParseTimeVal(strings.TrimSpace(r.Lines[0]))
		f.some = true
	}
}

// parseSize reads a size, or -1. Some servers put words before the number.
func parseSize(text string) int64 {
	text = strings.TrimSpace(text)
	n, err := strconv.ParseInt(text[strings.LastIndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })+1:], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// typeCommands is the TYPE command, where it must be sent.
func (s *session) typeCommands(kind string) [][]string {
	if s.kind == kind {
		return nil
	}
	return [][]string{{"TYPE", kind}}
}

func (s *session) setType(kind string, replies []line.Reply) error {
	for _, r := range replies {
		if r.Code/100 != 2 {
			return refused("TYPE", r)
		}
		s.kind = kind
	}
	return nil
}
