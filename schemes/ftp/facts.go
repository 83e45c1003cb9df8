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

// tell puts into resp what is known of the file.
func (f facts) tell(resp *fetch.Response) {
	resp.Size, resp.Time, resp.Validator = f.size, f.time, f.validator()
}

// facts asks for what is known of a file, in the TYPE that it will be sent
// in.
func (d *driver) facts(s *session, p path) (facts, error) {
	f := facts{size: -1}
	commands := s.typeCommands(p.kind)
	first := len(commands)
	commands = append(commands, d.questions(s, p)...)
	replies, err := s.exchange(commands...)
	if err != nil {
		return f, err
	}
	if err := s.setType(p.kind, replies[:first]); err != nil {
		return f, err
	}
	for i, r := range replies[first:] {
		f.learn(commands[first+i][0], r)
	}
	if d.unsized(p) {
		f.size = -1
	}
	return f, nil
}

// questions are the commands that ask for the facts of a file. Of a link MLST
// may tell what RETR does not bring: proftpd has the size and time of the link
// itself there, as those of a file.
func (d *driver) questions(s *session, p path) (q [][]string) {
	if f := s.features; f.has("MLST") && !(f.has("SIZE") && f.has("MDTM")) {
		return [][]string{{"MLST", p.name}}
	}
	if !d.unsized(p) && s.knows("SIZE") {
		q = append(q, []string{"SIZE", p.name})
	}
	if s.knows("MDTM") {
		q = append(q, []string{"MDTM", p.name})
	}
	return q
}

// unsized reports whether the size of a file tells nothing of what will come:
// it counts for images alone (RFC 3659 4).
func (d *driver) unsized(p path) bool { return p.kind != "I" || d.IgnoreSize }

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

// learn reads the replies to questions.
func (s *session) learn(f *facts, questions [][]string, next func() (line.Reply, error)) error {
	for _, q := range questions {
		r, err := next()
		if err != nil {
			return err
		}
		if s.IsBroken() {
			return refused(q[0], r)
		}
		if err := s.answer(f, q, r); err != nil {
			s.Break() // what was asked for behind it comes all the same
			return err
		}
	}
	return nil
}

// answer takes the reply to a question.
func (s *session) answer(f *facts, q []string, r line.Reply) error {
	if q[0] == "TYPE" {
		return s.setType(q[1], []line.Reply{r})
	}
	f.learn(q[0], r)
	return nil
}

// parseSize reads a size, or -1. Some servers put words before the number, and
// those that count in 32 bits a minus.
func parseSize(text string) int64 {
	text = strings.TrimSpace(text)
	before := strings.TrimRight(text, "0123456789")
	n, err := strconv.ParseInt(text[len(before):], 10, 64)
	if err != nil || strings.HasSuffix(before, "-") {
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
