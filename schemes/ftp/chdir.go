package ftp

import (
	"slices"

	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// chdir changes the working directory to dirs, a path relative to the login
// directory. If the server rejects a CWD command, the error contains the reply
// code.
func (s *session) chdir(dirs []string) error {
	if s.lost || len(dirs) < len(s.dirs) || !slices.Equal(dirs[:len(s.dirs)], s.dirs) {
		if err := s.goHome(); err != nil {
			return err
		}
	}
	rest := dirs[len(s.dirs):]
	if s.eager && !slices.Contains(rest, "") {
		return s.walkAtOnce(rest)
	}
	for _, dir := range rest {
		r, err := s.command("CWD", dir)
		if err == nil && dir == "" && isNo(r) {
			// For "//" in a path, RFC 1738 3.2.2 requires a CWD command without
			// an argument, which many servers reject. Users who type "//" mean
			// the root directory.
			s.Trace().Notef("the server rejected CWD without a name: using CWD /")
			r, err = s.command("CWD", "/")
		}
		if err != nil {
			return err
		}
		if r.Code/100 != 2 {
			return refused("CWD", r)
		}
		s.dirs = append(s.dirs, dir)
	}
	return nil
}

func (s *session) walkAtOnce(dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	commands := make([][]string, len(dirs))
	for i, dir := range dirs {
		commands[i] = []string{"CWD", dir}
	}
	s.lost = true
	next := s.next(true, commands)
	var no line.Reply // the first negative reply
	taken, stray := 0, false
	for range dirs { // one at a time, because each reply may have the maximum length
		r, err := next()
		switch ok := r.Code/100 == 2; {
		case err != nil:
			return err
		case ok && no.Code != 0:
			stray = true
		case ok:
			taken++
		case no.Code == 0:
			no = r
		}
	}
	if err := s.inStep(); err != nil {
		return err
	}
	if !stray { // the server is still in the directory before the rejected CWD
		s.lost = false
		s.dirs = append(slices.Clip(s.dirs), dirs[:taken]...)
	}
	if no.Code != 0 {
		return refused("CWD", no)
	}
	return nil
}

// goHome changes back to the login directory, whose name PWD reported after the
// login. The first call verifies the result with another PWD.
func (s *session) goHome() error {
	if s.home == "" {
		return sessions.ErrStale
	}
	commands := [][]string{{"CWD", s.home}, {"PWD"}}
	if s.proven {
		commands = commands[:1]
	}
	replies, err := s.exchange(commands...)
	if err != nil {
		return err
	}
	if replies[0].Code/100 != 2 {
		return sessions.ErrStale
	}
	if !s.proven {
		home, ok := parseQuoted(replies[1].Lines[0])
		if replies[1].Code != 257 || !ok || home != s.home {
			return sessions.ErrStale
		}
		s.proven = true
	}
	s.dirs, s.lost = nil, false
	return nil
}
