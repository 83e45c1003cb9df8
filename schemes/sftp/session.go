package sftp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// A session is an SSH connection with an SFTP channel. Only one request at a
// time uses a session.
type session struct {
	*sessions.Conn
	channel *timed
	r       *bufio.Reader // reads from channel
	lastID  uint32
	maxRead uint32 // maximum length of a read request
}

// start opens the SFTP channel of an SSH connection over raw.
func (s *session) start(client *ssh.Client, raw *buffered) error {
	channel, requests, err := client.OpenChannel("session", nil)
	if err != nil {
		return fetch.Denied.Errorf("server opens no channel: %s", textform.Excerpt(err.Error()))
	}
	go ssh.DiscardRequests(requests)
	go s.discardMessages(channel.Stderr())
	ok, err := channel.SendRequest("subsystem", true, ssh.Marshal(struct{ Name string }{"sftp"}))
	switch {
	case err != nil:
		return err
	case !ok:
		return fetch.Unsupported.Errorf("server has no sftp subsystem")
	}
	s.channel = newTimed(channel, raw, s.Abort)
	s.r = bufio.NewReaderSize(s.channel, 32<<10)
	return s.negotiate()
}

// maxMessages is the maximum number of bytes of messages for the standard error.
const maxMessages = 64 << 10

// discardMessages reads the messages of the server until the channel is closed.
// Package ssh keeps unread messages, and needs 64 bytes for a message of one byte.
// It closes the connection after maxMessages bytes.
func (s *session) discardMessages(r io.Reader) {
	if _, err := io.CopyN(io.Discard, r, maxMessages); err == nil {
		s.Abort()
	}
}

const (
	defaultRead = 32 << 10  // length of data that every server must support
	largestRead = 255 << 10 // limit of OpenSSH; a packet is some bytes longer than its data
)

// negotiate exchanges the protocol versions. It requests the maximum length of
// data from servers with this extension of OpenSSH.
func (s *session) negotiate() error {
	defer s.channel.start()()
	s.traceSent("INIT", "3")
	if _, err := s.channel.Write(newRequest(initialize, 3).bytes()); err != nil {
		return err
	}
	p, err := s.readPacket()
	if err != nil {
		return err
	}
	if p.kind != version || p.id < 3 {
		return fetch.Protocol.Errorf("sftp version 3 is not supported by the server")
	}
	s.traceReceived("VERSION")
	limits := false
	for len(p.rest) > 0 && p.err == nil {
		name, _ := p.str(), p.str()
		limits = limits || name == "limits@openssh.com"
	}
	s.maxRead = defaultRead
	if !limits || p.err != nil {
		return p.err
	}
	if p, err = s.call(newRequest(extended, 0).str("limits@openssh.com"), "LIMITS", ""); err != nil {
		return err
	}
	if p.kind == extReply {
		p.u64() // maximum length of a packet, which is not used
		if n := p.u64(); p.err == nil && n > 0 {
			s.maxRead = uint32(min(max(n, defaultRead), largestRead))
		}
	}
	return nil
}

// call sends a request and returns the reply. The trace shows the request as
// verb and arg.
func (s *session) call(r request, verb, arg string) (packet, error) {
	all, err := s.calls([]request{r}, verb, arg)
	if err != nil {
		return packet{}, err
	}
	return all[0], nil
}

// calls sends several requests at once. It sets their numbers, and returns the
// replies in the order of the requests.
func (s *session) calls(all []request, verb, arg string) ([]packet, error) {
	defer s.channel.start()()
	s.traceSent(verb, arg)
	first := s.lastID + 1
	var out []byte
	for _, r := range all {
		s.lastID++
		id := s.lastID
		r[5], r[6], r[7], r[8] = byte(id>>24), byte(id>>16), byte(id>>8), byte(id)
		out = append(out, r.bytes()...)
	}
	if _, err := s.channel.Write(out); err != nil {
		return nil, s.broken(err)
	}
	replies := make([]packet, len(all))
	for range all {
		p, err := s.readPacket()
		if err != nil {
			return nil, s.broken(err)
		}
		at := p.id - first
		if at >= uint32(len(all)) || replies[at].kind != 0 {
			return nil, s.broken(fetch.Protocol.Errorf("sftp reply to another request"))
		}
		replies[at] = p
	}
	s.MarkAnswered()
	s.traceReply(replies)
	return replies, nil
}

// readPacket reads a complete packet.
func (s *session) readPacket() (p packet, err error) {
	p, left, err := readHeader(s.r)
	if err != nil {
		return p, err
	}
	p.rest = make([]byte, left)
	_, err = io.ReadFull(s.r, p.rest)
	return p, err
}

// broken marks the session as unusable and returns the error with its class.
func (s *session) broken(err error) error {
	s.Break()
	if fault := fetch.FaultOf(err); fault != fetch.Internal && fault != fetch.Truncated {
		return err
	}
	return fetch.Connect.Errorf("connection failed: %w", err)
}

// bodyFault classifies an error that occurs while a body is read.
func (s *session) bodyFault(err error) error {
	if err == io.EOF {
		return err
	}
	if err = s.broken(err); fetch.FaultOf(err) == fetch.Connect {
		err = fetch.Truncated.With(err)
	}
	return err
}

// stat returns the attributes of a file. It follows symbolic links.
func (s *session) stat(path string) (a attributes, err error) {
	p, err := s.call(newRequest(stat, 0).str(path), "STAT", path)
	if err == nil {
		err = p.expect(attrsReply)
	}
	if err != nil {
		return a, err
	}
	a = p.attributes()
	return a, p.err
}

// open opens a file or directory, and returns its handle.
func (s *session) open(kind byte, path string) (handle string, err error) {
	r, verb := newRequest(kind, 0).str(path), "OPENDIR"
	if kind == open {
		const forReading = 1
		r, verb = r.u32(forReading).u32(0), "OPEN"
	}
	p, err := s.call(r, verb, path)
	if err == nil {
		err = p.expect(handleReply)
	}
	if err != nil {
		return "", err
	}
	if handle = p.str(); p.err == nil && len(handle) > maxHandle {
		p.err = fetch.Protocol.Errorf("sftp handle of %d bytes", len(handle))
	}
	return handle, p.err
}

// maxHandle is the maximum length of a handle in bytes (section 6.2).
const maxHandle = 256

// close closes a handle.
func (s *session) close(handle string) error {
	p, err := s.call(newRequest(closeHandle, 0).str(handle), "CLOSE", "")
	if err == nil && p.kind != status {
		err = fetch.Protocol.Errorf("sftp reply of type %d to close", p.kind)
	}
	return err
}

// A timeLimit limits the time of an operation to [sessions.ReplyTimeout].
type timeLimit struct {
	timer   *time.Timer
	expired atomic.Bool
	end     time.Time // of the current operation
}

// newTimeLimit returns a stopped timeLimit that calls abort when the time is
// over.
func newTimeLimit(abort func()) *timeLimit {
	l := &timeLimit{}
	l.timer = time.AfterFunc(sessions.ReplyTimeout, func() {
		l.expired.Store(true)
		abort()
	})
	l.timer.Stop()
	return l
}

// start starts the time of an operation. The caller calls stop at the end of the
// operation.
func (l *timeLimit) start() (stop func() bool) {
	l.reset(sessions.ReplyTimeout)
	return l.timer.Stop
}

func (l *timeLimit) reset(left time.Duration) {
	l.end = time.Now().Add(left)
	l.timer.Reset(left)
}

// pause stops the time of an operation until the caller calls resume. A server can
// request any number of pauses, so that the operation does not start again.
func (l *timeLimit) pause() (resume func()) {
	left := time.Until(l.end)
	l.timer.Stop()
	return func() { l.reset(max(left, 0)) }
}

// A timed limits the time of each operation on a channel. An operation consists
// of several reads and writes. The time between two operations is not limited,
// because the SSH library reads from the network in the background.
type timed struct {
	*timeLimit
	channel io.ReadWriter
	raw     *buffered
}

func newTimed(channel io.ReadWriter, raw *buffered, abort func()) *timed {
	return &timed{newTimeLimit(abort), channel, raw}
}

func (t *timed) Read(p []byte) (int, error) {
	n, err := t.channel.Read(p)
	t.raw.dataRead(n)
	return n, t.fault(err)
}

func (t *timed) Write(p []byte) (int, error) {
	n, err := t.channel.Write(p)
	return n, t.fault(err)
}

// fault returns a timeout error if the time limit has ended a read or write. It
// replaces io.EOF with io.ErrUnexpectedEOF.
func (t *timed) fault(err error) error {
	if err != nil && t.expired.Load() {
		err = fetch.Timeout.Errorf("server did not answer within %v", sessions.ReplyTimeout)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// traceSent reports a request to the trace, as a line of text.
func (s *session) traceSent(verb, arg string) {
	if t := s.Trace(); t != nil && t.Sent != nil {
		line := verb
		if arg != "" {
			line += " " + tty.Escape(arg)
		}
		t.Sent([]byte(line + "\r\n"))
	}
}

// traceReceived reports a reply to the trace, as a line of text.
func (s *session) traceReceived(line string) { s.ReportRead([]byte(line + "\r\n")) }

// traceReply reports the first reply to the trace.
func (s *session) traceReply(all []packet) {
	p := all[0] // a copy, because decoding changes the packet
	switch p.kind {
	case status:
		code, message := p.u32(), p.str()
		s.traceReceived("STATUS " + statusText(code, message))
	case handleReply:
		s.traceReceived("HANDLE")
	case names:
		s.traceReceived("NAME")
	case attrsReply:
		s.traceReceived("ATTRS")
	default:
		s.traceReceived("REPLY")
	}
}

// sshFault classifies an error of the SSH handshake.
func sshFault(ctx context.Context, err error) error {
	var negotiation *ssh.AlgorithmNegotiationError
	text := textform.Excerpt(err.Error())
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &negotiation):
		offered := textform.Excerpt(strings.Join(negotiation.RequestedAlgorithms, ", "))
		return fetch.TLS.Errorf("the server supports no common algorithm for %s, but %s", negotiation.What, offered)
	}
	switch fault := fetch.FaultOf(err); fault {
	case fetch.Internal:
		return fetch.Protocol.Errorf("%s", text)
	case fetch.Truncated:
		return fetch.Connect.Errorf("%s", text)
	default:
		return fault.Errorf("%s", text)
	}
}
