package z3950

import (
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A session is a connection to a server. It sends the next request only after
// it has read the response to the previous one.
type session struct {
	*sessions.Messages
	server *apdu.InitResponse
	asked  string // the encoded search that created the result set, or ""
	count  int64  // number of records in the result set
	buf    []byte // the last response; nil while the session is idle
}

func newSession(c *sessions.Conn) *session {
	return &session{Messages: sessions.NewMessages(c, 4<<10, replyTime, wireFault)}
}

const (
	messageSize = 1 << 20 // preferred size of a response
	recordSize  = 8 << 20 // maximum size of a record
	replyTime   = 2 * time.Minute
)

// Release implements [sessions.Session].
func (s *session) Release() bool {
	s.buf = nil // a body may share its memory
	return s.Messages.Release()
}

// roundTrip sends a request and reads the response. The response is valid until the
// next call.
func (s *session) roundTrip(request, shown []byte) (p apdu.Response, err error) {
	if err = s.SendAlone(request, shown); err == nil {
		err = s.Receive(func() (err error) {
			if s.buf, err = ber.Read(s.In, s.buf, apdu.MaxMessage); err == nil {
				p, err = apdu.Decode(s.buf)
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	switch p := p.(type) {
	case *apdu.Close:
		s.Break()
		return nil, closed(p)
	case *apdu.AccessControl:
		s.Break()
		return nil, sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server requires a challenge that is not supported"))
	}
	return p, nil
}

// unexpected returns the error for a response of the wrong type.
func (s *session) unexpected(request string) error {
	s.Break()
	return fetch.Protocol.Errorf("server did not reply to %s", request)
}

// init negotiates the session. The credential may be nil.
func (s *session) init(auth *fetch.Credential) error {
	p := apdu.Init{MessageSize: messageSize, RecordSize: recordSize}
	if auth != nil {
		p.User, p.Password = auth.User, auth.Password.Reveal()
	}
	request, masked := p.Encode(), p
	if p.Password != "" {
		masked.Password = "***"
		s.Trace().Notef("the password was sent in plaintext")
	}
	answer, err := s.roundTrip(request, masked.Encode())
	if err != nil {
		return err
	}
	server, ok := answer.(*apdu.InitResponse)
	switch {
	case !ok:
		return s.unexpected("init")
	case !server.Accepted:
		s.Break()
		return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server rejected the session"))
	}
	s.server = server
	return nil
}

// set returns the name of the result set of this session. Servers without named
// result sets have one result set, "default".
func (s *session) set() string {
	if s.server.NamedSets {
		return "fetch"
	}
	return "default"
}

// search creates a result set, unless the last search was the same.
func (s *session) search(l locator) error {
	p := apdu.Search{Set: s.set(), Databases: l.databases, Terms: l.terms}
	request := p.Encode()
	if s.asked == string(request) {
		return nil
	}
	s.asked = ""
	answer, err := s.roundTrip(request, request)
	if err != nil {
		return err
	}
	found, ok := answer.(*apdu.SearchResponse)
	switch {
	case !ok:
		return s.unexpected("search")
	case len(found.Diagnostics) > 0:
		return newDiagnosis(found.Diagnostics[0])
	case !found.OK:
		return fetch.Denied.Errorf("server rejected the search without a reason")
	case found.Count < 0:
		return fetch.Protocol.Errorf("server found %d records", found.Count)
	}
	s.asked, s.count = string(request), found.Count
	return nil
}

// present sends a Present request for records of the result set. Each element
// of the result is a record or a diagnostic.
func (s *session) present(first, count int64, elementSet, syntax string) ([]apdu.Record, error) {
	p := apdu.Present{Set: s.set(), First: first, Count: count, ElementSet: elementSet, Syntax: syntax}
	request := p.Encode()
	answer, err := s.roundTrip(request, request)
	if err != nil {
		return nil, err
	}
	found, ok := answer.(*apdu.PresentResponse)
	switch {
	case !ok:
		return nil, s.unexpected("present")
	case len(found.Records) == 0 && len(found.Diagnostics) > 0:
		return nil, newDiagnosis(found.Diagnostics[0])
	case len(found.Records) == 0:
		return nil, fetch.Protocol.Errorf("server sent no record and no diagnostic")
	case int64(len(found.Records)) > count:
		s.Break()
		return nil, fetch.Protocol.Errorf("server sent %d records, but %d were requested", len(found.Records), count)
	}
	return found.Records, nil
}

// describe returns the name and the release of the server program.
func (s *session) describe() fetch.Header {
	h := fetch.Header{{Name: "version", Value: "123"[max(s.server.Version, 1)-1:][:1]}}
	for _, f := range []fetch.Field{{Name: "server", Value: s.server.Name}, {Name: "release", Value: s.server.Release}} {
		if f.Value = strings.TrimSpace(tty.Escape(tty.Clip(f.Value, maxMessage))); f.Value != "" {
			h = append(h, f)
		}
	}
	return h
}
