package ftp

import (
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A workingDir is the working directory of a session.
type workingDir struct {
	login    string   // name of the login directory, from PWD; "": unknown
	verified bool     // a second PWD has confirmed that CWD leads to login
	below    []string // arguments of the CWD commands since the login
	unknown  bool     // below is not valid, because CWD commands failed
}

// is reports whether dirs leads from the login directory to w.
func (w *workingDir) is(dirs []string) bool { return !w.unknown && slices.Equal(dirs, w.below) }

// contains reports whether dirs leads to w or to a directory below w.
func (w *workingDir) contains(dirs []string) bool {
	return len(dirs) >= len(w.below) && w.is(dirs[:len(w.below)])
}

// enter records CWD commands that succeeded.
func (w *workingDir) enter(dirs ...string) { w.below = append(slices.Clip(w.below), dirs...) }

// wayTime is the maximum time of all CWD commands of a request together.
const wayTime = 5 * time.Minute

// checkTime returns an error if the CWD commands since start take too long.
func (s *session) checkTime(start time.Time) error {
	if time.Since(start) <= wayTime {
		return nil
	}
	s.Break()
	return fetch.Timeout.Errorf("the server did not change to the directory within %v", wayTime)
}

// chdir changes the working directory to dirs, a path relative to the login
// directory. If the server rejects a CWD command, the error contains the reply
// code.
func (s *session) chdir(dirs []string) error {
	if !s.dir.contains(dirs) {
		if err := s.goHome(); err != nil {
			return err
		}
	}
	rest := dirs[len(s.dir.below):]
	if s.server.pipelines && !slices.Contains(rest, "") {
		return s.walkAtOnce(rest)
	}
	start := time.Now()
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
		s.dir.enter(dir)
		if err := s.checkTime(start); err != nil {
			return err
		}
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
	s.dir.unknown = true
	next := s.next(true, commands)
	var no line.Reply // the first negative reply
	taken, stray, start := 0, false, time.Now()
	for range dirs { // one at a time, because each reply may have the maximum length
		r, err := next()
		if err == nil {
			err = s.checkTime(start)
		}
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
		s.dir.unknown = false
		s.dir.enter(dirs[:taken]...)
	}
	if no.Code != 0 {
		return refused("CWD", no)
	}
	return nil
}

// goHome changes back to the login directory, whose name PWD reported after the
// login. The first call verifies the result with another PWD.
func (s *session) goHome() error {
	if s.dir.login == "" {
		return sessions.ErrStale
	}
	commands := [][]string{{"CWD", s.dir.login}, {"PWD"}}
	if s.dir.verified {
		commands = commands[:1]
	}
	replies, err := s.sendAll(commands...)
	if err != nil {
		return err
	}
	if replies[0].Code/100 != 2 {
		return sessions.ErrStale
	}
	if !s.dir.verified {
		name, ok := parseQuoted(replies[1].Lines[0])
		if replies[1].Code != 257 || !ok || name != s.dir.login {
			return sessions.ErrStale
		}
	}
	s.dir = workingDir{login: s.dir.login, verified: true}
	return nil
}
