package dict

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// media is the media type of all texts. The protocol uses UTF-8 (RFC 2229
// section 2.1).
const media = "text/plain; charset=utf-8"

// A driver executes requests for dict URLs, each on its own connection.
type driver struct{ env fetch.Env }

func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{URL: req.URL, Kind: l.kind(), Media: media, Size: -1, Proto: "DICT"}
	if req.Op == fetch.Stat {
		req.Trace.Notef("no request sent: dict has no metadata")
		resp.Body = http.NoBody
		return resp, nil
	}
	if l.word == "" && l.isQuery() {
		return nil, errNoWord
	}
	c, err := l.command()
	if err != nil {
		return nil, err
	}
	selection.IgnoreRange(req, "dict")
	s, err := d.open(ctx, req)
	if err != nil {
		return nil, err
	}
	return s.single.Respond(func() (*fetch.Response, error) { return resp, s.request(l, c, resp) })
}

// kind returns the kind of the object that l names.
func (l locator) kind() fetch.Kind {
	switch {
	case l.word == "" && l.isQuery():
		return fetch.Index
	case l.verb == match, l.verb == databases:
		return fetch.Menu
	}
	return fetch.Document
}

// A conversation is a connection to a server after its greeting, for one request.
type conversation struct {
	*sessions.Text
	single *sessions.Single
}

// open connects to the server, reads its greeting and sends the commands CLIENT
// and AUTH.
func (d *driver) open(ctx context.Context, req *fetch.Request) (*conversation, error) {
	auth, err := login(req)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	if auth, err = sessions.Complete(ctx, d.env.Login, auth, fetch.Challenge{Origin: t.Origin()}); err != nil {
		return nil, err
	}
	single, err := sessions.OpenSingle(ctx, d.env, req, port, false, nil, nil)
	if err != nil {
		return nil, err
	}
	s := &conversation{sessions.NewText(single.Conn, single.R), single}
	s.SetReplyTimeout(sessions.ReplyTimeout)
	if err := s.greet(auth); err != nil {
		single.Close()
		return nil, err
	}
	return s, nil
}

func (s *conversation) greet(auth *fetch.Credential) error {
	greeting, err := s.status("greeting")
	if err != nil {
		return err
	}
	s.Trace().Reached(trace.FirstByte, s.NetConn)
	if greeting.Code != 220 {
		return statusError("greeting", greeting)
	}
	if err := s.AddCommand("CLIENT", client); err != nil || auth == nil {
		return err
	}
	text := greeting.Lines[0]
	id := text[strings.LastIndexByte(text, '<')+1:]
	id, _, ok := strings.Cut(id, ">")
	if !ok {
		return fetch.Auth.Errorf("server has no authentication")
	}
	sum := md5.Sum([]byte("<" + id + ">" + auth.Password.Reveal()))
	if err := s.AddSecretCommand("AUTH", atom(auth.User), hex.EncodeToString(sum[:])); err != nil {
		return err
	}
	if err := s.Flush(); err != nil {
		return sessions.ReplyFault(err)
	}
	for _, verb := range []string{"CLIENT", "AUTH"} {
		r, err := s.status(verb)
		if err == nil && verb == "AUTH" && r.Code != 230 {
			err = statusError(verb, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// status reads a status line.
func (s *conversation) status(verb string) (line.Reply, error) {
	r, err := s.Lines.ReadStatus()
	if err != nil {
		return r, fetch.FaultOf(sessions.ReplyFault(err)).Errorf("%s: %w", verb, sessions.ReplyFault(err))
	}
	return r, nil
}

// request sends the command c and reads the start of the reply into resp. It
// sends QUIT at once, so that the server closes the connection.
func (s *conversation) request(l locator, c command, resp *fetch.Response) error {
	pending := s.Buffered()
	if err := s.AddCommand(c.words...); err != nil {
		return err
	}
	if err := s.AddCommand("QUIT"); err != nil {
		return err
	}
	if err := s.Flush(); err != nil {
		return sessions.ReplyFault(err)
	}
	s.Trace().Reached(trace.RequestSent, s.NetConn)
	if pending {
		if _, err := s.status("CLIENT"); err != nil { // the server need not support the command
			return err
		}
	}
	r, err := s.status(c.words[0])
	switch {
	case err != nil:
		return err
	case r.Code != c.code:
		return statusError(c.words[0], r)
	}
	resp.Code = r.Code
	switch {
	case l.verb == define:
		resp.Body = s.single.Body(&definitions{lines: s.Lines, nth: l.nth})
	case c.block:
		resp.Body = s.single.Body(&text{block: s.Lines.Block(maxLine), lines: s.Lines})
	default:
		resp.Body = s.single.Body(strings.NewReader(r.Lines[0] + "\r\n"))
	}
	return nil
}

// faultOf returns the fault for a negative status code (RFC 2229 section 2.4).
func faultOf(code int) fetch.Fault {
	switch code {
	case 550, 551, 552, 554, 555:
		return fetch.NotFound
	case 530, 531, 532:
		return fetch.Auth
	case 500, 501, 502, 503:
		return fetch.Unsupported
	}
	switch code / 100 {
	case 4:
		return fetch.TryLater
	case 5:
		return fetch.Denied
	}
	return fetch.Protocol
}

// statusError returns the error for an unexpected status code in the reply to a
// command.
func statusError(verb string, r line.Reply) error {
	fault := faultOf(r.Code)
	err := fault.Errorf("%s: %d %s", verb, r.Code, textform.Excerpt(r.Lines[0]))
	return &fetch.Error{Code: r.Code, Err: sessions.NeedLogin(fault, err)}
}

// login returns the credential of a request, or nil.
func login(req *fetch.Request) (*fetch.Credential, error) {
	if req.Auth != nil {
		return req.Auth, nil
	}
	return credential(req.URL)
}

// credential parses the user name and the password in a URL. RFC 2229 has the
// form USER;AUTH, where AUTH is the name of a mechanism that is not defined.
func credential(u uri.URI) (*fetch.Credential, error) {
	c, err := fetch.CredentialOf(u)
	if c != nil {
		c.User, _, _ = strings.Cut(c.User, ";")
	}
	return c, err
}
