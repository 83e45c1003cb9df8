package ftp

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/dirlist"
)

// facts holds the size, time and type of a file, as far as the server reports
// them.
type facts struct {
	size int64      // -1: unknown
	time time.Time  // zero: unknown
	dir  bool       // the name is a directory
	no   line.Reply // last reply with code 550, or zero
	some bool       // a reply shows that the file or directory exists
}

// validator returns a string that identifies the version of the file by its
// size and time. It returns "" if the size or the time is unknown.
func (f facts) validator() string {
	if f.size < 0 || f.time.IsZero() {
		return ""
	}
	return strconv.FormatInt(f.size, 10) + "-" + f.time.Format(dirlist.TimeVal)
}

// copyTo copies the size and time of the file to resp.
func (f facts) copyTo(resp *fetch.Response) {
	resp.Size, resp.Time, resp.Validator = f.size, f.time, f.validator()
}

// facts requests the size, time and type of a file from the server.
func (d *driver) facts(s *session, p path) (facts, error) {
	f := facts{size: -1}
	commands := append(s.typeCommands(p.kind), d.factCommands(s, p)...)
	replies, err := s.sendAll(commands...)
	if err != nil {
		return f, err
	}
	for i, r := range replies {
		if err := s.addFact(&f, commands[i], r); err != nil {
			return f, err
		}
	}
	if d.unsized(p) {
		f.size = -1
	}
	return f, nil
}

// factCommands returns the commands that request the size, time and type of a
// file. SIZE and MDTM are preferred to MLST, because proftpd's MLST reports the
// size and time of a symbolic link instead of its target.
func (d *driver) factCommands(s *session, p path) (q [][]string) {
	if f := s.server.features; f.has("MLST") && !(f.has("SIZE") && f.has("MDTM")) {
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

// unsized reports whether the size of the file must be treated as unknown. The
// reply to SIZE is the number of transferred bytes only for image transfers
// (RFC 3659 4).
func (d *driver) unsized(p path) bool { return p.kind != "I" || d.IgnoreSize }

// knows reports whether the server supports a command according to its FEAT
// reply. A server without FEAT may support any command.
func (s *session) knows(command string) bool {
	return len(s.server.features) == 0 || s.server.features.has(command)
}

// parseReply parses the reply to MLST, SIZE or MDTM.
func (f *facts) parseReply(verb string, r line.Reply) {
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

// readFacts reads the replies to the commands in questions: TYPE, MLST, SIZE
// and MDTM.
func (s *session) readFacts(f *facts, questions [][]string, next func() (line.Reply, error)) error {
	for _, q := range questions {
		r, err := next()
		if err != nil {
			return err
		}
		if s.IsBroken() {
			return refused(q[0], r)
		}
		if err := s.addFact(f, q, r); err != nil {
			s.Break() // the replies to the later commands are not read
			return err
		}
	}
	return nil
}

// addFact processes the reply to one TYPE, MLST, SIZE or MDTM command.
func (s *session) addFact(f *facts, q []string, r line.Reply) error {
	if q[0] == "TYPE" {
		return s.setType(q[1], []line.Reply{r})
	}
	f.parseReply(q[0], r)
	return nil
}

// parseSize parses a file size. It returns -1 if there is no valid size. Some
// servers put words before the number, and servers with 32-bit counters may
// send a negative number.
func parseSize(text string) int64 {
	text = strings.TrimSpace(text)
	before := strings.TrimRight(text, "0123456789")
	n, err := strconv.ParseInt(text[len(before):], 10, 64)
	if err != nil || strings.HasSuffix(before, "-") {
		return -1
	}
	return n
}

// typeCommands returns the TYPE command for a transfer, or no command if the
// session already uses that type.
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
