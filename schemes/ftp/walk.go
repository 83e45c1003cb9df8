package ftp

import (
	"slices"

	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
)

// chdir brings the session to the directory that the CWDs of dirs lead to
// from that of the login. Where one is refused the error has its code.
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
		r, err := s.ask("CWD", dir)
		if err == nil && dir == "" && isNo(r) {
			// Many servers refuse the CWD without argument that RFC 1738
			// 3.2.2 has for "//", and everybody means the root by it.
			s.Trace().Notef("server refused CWD without a name: CWD / instead")
			r, err = s.ask("CWD", "/")
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
	var no line.Reply // the first that is one
	taken, stray := 0, false
	for range dirs { // one at a time: each may be as long as a reply may be
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
	if !stray { // unless one behind it was taken, we stand before the one refused
		s.lost = false
		s.dirs = append(slices.Clip(s.dirs), dirs[:taken]...)
	}
	if no.Code != 0 {
		return refused("CWD", no)
	}
	return nil
}

// goHome returns to the directory of the login by the name that PWD gave it,
// where that proves to lead there.
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
