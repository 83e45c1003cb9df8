package rsync

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

const (
	maxMotd = 1000 // lines before the server accepts a module
	maxAge  = 5 * time.Minute
)

// A session is a connection to a server.
type session struct {
	*sessions.Conn
	r  *bufio.Reader
	in stream
	greeting
	digest string // of files
	seed   int32
	last   int32             // index of the last request for a file
	at     locator           // path in the arguments of the server
	auth   *fetch.Credential // of the session, or nil

	// index has the files that can be requested, or is nil. The list was read at
	// the time listed. After maxAge, its sizes and times are not used.
	index  *index
	listed time.Time
}

func newSession(c *sessions.Conn) *session {
	s := &session{Conn: c, r: bufio.NewReaderSize(c, bufferSize), last: -1}
	s.in.r, s.in.lastIndex = s.r, s.last
	s.RequireQuiet(func() int { return s.r.Buffered() + s.in.left })
	return s
}

// bufferSize is the size of the buffer of a connection. Servers send messages of
// up to 64 KiB.
const bufferSize = 64 << 10

// Claim implements [sessions.Session].
func (s *session) Claim(t *trace.Trace) bool {
	s.in.text = ""
	return s.Conn.Claim(t) && time.Since(s.listed) < maxAge
}

// Release implements [sessions.Session].
func (s *session) Release() bool { return s.Conn.Release() && s.index != nil }

// open reads the greeting, authenticates, and sends the arguments of the
// server. For requests by index, it reads the list of the directory. The limit is
// the newest version of the protocol that it announces.
func (s *session) open(l locator, kind request, auth *fetch.Credential, limit int) error {
	s.auth = auth
	if s.at = l; kind == requestIndex {
		s.at = l.directory()
	}
	line, err := readLine(s.r)
	if err != nil {
		return err
	}
	if s.greeting, err = parseGreeting(line, limit); err != nil {
		return err
	}
	s.Trace().Reached(trace.FirstByte, s.NetConn)
	module := s.at.module
	if module == "" {
		module = "#list"
	}
	if err := s.send(s.reply() + module + "\n"); err != nil || kind == requestModules {
		return err
	}
	if err := s.enter(auth); err != nil {
		return err
	}
	end := "\n"
	if s.version >= varVersion {
		end = "\x00"
	}
	if err := s.send(strings.Join(append(s.at.arguments(s.version), "", ""), end)); err != nil {
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
				return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("the module %s requires a login", s.at.module))
			}
			if strings.ContainsAny(auth.User, " \r\n\x00") {
				return fetch.BadURL.Errorf("invalid user name")
			}
			digest, err := s.answer(auth.Password.Reveal(), challenge)
			if err != nil {
				return err
			}
			if err := s.Send([]byte(auth.User+" "+digest+"\n"), []byte(auth.User+" ***\n")); err != nil {
				return err
			}
		case command && rest == "OK":
			return nil
		case command:
			return fetch.Protocol.Errorf("unexpected reply: %s", textform.Excerpt(line))
		}
	}
	return fetch.Protocol.Errorf("more than %d lines before the module", maxMotd)
}

// begin negotiates the digest of files and reads the seed of the digests, after
// which the stream is multiplexed. It sends an empty list of filters.
func (s *session) begin() (err error) {
	const unframed = 2 << 10 // more than the bytes before the seed
	s.in.version, s.in.left, s.digest = s.version, unframed, "md4"
	if s.version >= varVersion {
		if s.digest, err = s.negotiate(); err != nil {
			return err
		}
	}
	if s.seed, err = s.in.int(); err != nil {
		return err
	}
	s.in.left = 0
	s.Trace().Detailf("protocol %d with %s", s.version, s.digest)
	return s.sendData(appendInts(nil, 0))
}

// sendData sends data after the arguments of the server. Since version 30, it is
// a message of a multiplexed stream.
func (s *session) sendData(b []byte) error {
	if s.version >= varVersion {
		b = append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(b)), dataTag<<24|uint32(len(b))), b...)
	}
	return s.Send(b, nil)
}

// endOfList returns io.EOF, or an error if the server could not read the complete
// directory.
func (s *session) endOfList(l *list) error {
	if l.failed&1 == 0 {
		return io.EOF
	}
	if s.in.text == "" {
		return serverError("the directory could not be read completely")
	}
	return serverError(s.in.text)
}

// missing returns the error for a path that the server does not list.
func (s *session) missing() error {
	if s.in.text != "" {
		return serverError(s.in.text)
	}
	return fetch.NotFound.Errorf("%s does not exist", s.at.path)
}
