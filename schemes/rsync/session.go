package rsync

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	//lint:ignore SA1019 the protocol requires it
	"golang.org/x/crypto/md4"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// version is the version of the protocol. Servers of all versions since 2.6.0
// support it.
const version = 27

const (
	maxMotd = 1000 // lines before the server accepts a module
	maxAge  = 5 * time.Minute
)

// A session is a connection to a server.
type session struct {
	*sessions.Conn
	r    *bufio.Reader
	in   stream
	seed int32
	at   locator           // path in the arguments of the server
	auth *fetch.Credential // of the session, or nil

	// index has the files that can be requested, or is nil. The list was read at
	// the time listed. After maxAge, its sizes and times are not used.
	index  index
	listed time.Time
}

func newSession(c *sessions.Conn) *session {
	s := &session{Conn: c, r: bufio.NewReaderSize(c, 32<<10)}
	s.in.r = s.r
	s.RequireQuiet(func() int { return s.r.Buffered() + s.in.left })
	return s
}

// Claim implements [sessions.Session].
func (s *session) Claim(t *trace.Trace) bool {
	s.in.text = ""
	return s.Conn.Claim(t) && time.Since(s.listed) < maxAge
}

// Release implements [sessions.Session].
func (s *session) Release() bool { return s.Conn.Release() && s.index != nil }

// open reads the greeting, authenticates, and sends the arguments of the
// server. For requests by index, it reads the list of the directory.
func (s *session) open(l locator, kind request, auth *fetch.Credential) error {
	s.auth = auth
	if s.at = l; kind == requestIndex {
		s.at = l.directory()
	}
	line, err := readLine(s.r)
	if err != nil {
		return err
	}
	if err := parseGreeting(line); err != nil {
		return err
	}
	s.Trace().Reached(trace.FirstByte, s.NetConn)
	module := s.at.module
	if module == "" {
		module = "#list"
	}
	if err := s.send(fmt.Sprintf("@RSYNCD: %d\n%s\n", version, module)); err != nil || kind == requestModules {
		return err
	}
	if err := s.enter(auth); err != nil {
		return err
	}
	if err := s.send(strings.Join(append(s.at.arguments(), "", ""), "\n")); err != nil {
		return err
	}
	if err := s.begin(); err != nil || kind != requestIndex {
		return err
	}
	return s.readIndex()
}

func (s *session) send(text string) error { return s.Send([]byte(text), []byte(text)) }

// enter waits until the server accepts the module, and authenticates.
func (s *session) enter(auth *fetch.Credential) error {
	for range maxMotd {
		line, err := readLine(s.r)
		if err != nil {
			return err
		}
		rest, command := strings.CutPrefix(line, "@RSYNCD: ")
		challenge, login := strings.CutPrefix(rest, "AUTHREQD ")
		switch {
		case strings.HasPrefix(line, "@ERROR"):
			return serverError(strings.TrimSpace(strings.TrimPrefix(line, "@ERROR:")))
		case command && login:
			if auth == nil || auth.User == "" {
				return fetch.Auth.Errorf("the module %s requires a login", s.at.module)
			}
			if strings.ContainsAny(auth.User, " \r\n\x00") {
				return fetch.BadURL.Errorf("invalid user name")
			}
			if err := s.Send([]byte(auth.User+" "+answer(auth.Password.Reveal(), challenge)+"\n"), []byte(auth.User+" ***\n")); err != nil {
				return err
			}
		case command && rest == "OK":
			return nil
		case command:
			return fetch.Protocol.Errorf("unexpected reply %q", line)
		}
	}
	return fetch.Protocol.Errorf("more than %d lines before the module", maxMotd)
}

// answer returns the answer to a challenge: a digest that begins with a seed of
// zero.
func answer(password, challenge string) string {
	h := md4.New()
	h.Write(make([]byte, 4))
	io.WriteString(h, password+challenge)
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil))
}

// begin reads the seed of the digests, after which the stream is multiplexed, and
// sends an empty list of filters.
func (s *session) begin() error {
	s.in.left = 4
	seed, err := s.in.int()
	if err != nil {
		return err
	}
	s.seed, s.in.left = seed, 0
	return s.Send(appendInts(nil, 0), nil)
}

// endOfList reads the number at the end of the list, which shows whether the
// server could read the complete directory. It returns io.EOF.
func (s *session) endOfList() error {
	failed, err := s.in.int()
	switch {
	case err != nil:
		return fault(err)
	case failed&1 != 0:
		text := s.in.text
		if text == "" {
			text = "the directory could not be read completely"
		}
		return serverError(text)
	}
	return io.EOF
}

// missing returns the error for a path that the server does not list.
func (s *session) missing() error {
	if _, err := s.in.int(); err != nil && s.in.text == "" {
		return err
	}
	if s.in.text != "" {
		return serverError(s.in.text)
	}
	return fetch.NotFound.Errorf("%s does not exist", s.at.path)
}
