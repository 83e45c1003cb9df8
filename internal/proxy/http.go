package proxy

import (
	"fmt"
	"net"
	"strings"

	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/internal/httpauth"
)

// connectHTTP sends CONNECT. If the proxy requires a login and keeps the
// connection open, it sends CONNECT again on the same connection.
func connectHTTP(conn net.Conn, to destination, opts Options) error {
	const attempts = 3 // without a login, with it, with a fresh nonce
	challenge := opts.initialChallenge()
	for attempt := 1; ; attempt++ {
		head, err := sendConnect(conn, to.String(), challenge, opts)
		if err != nil {
			return err
		}
		tried := challenge.Scheme != ""
		switch {
		case head.Code/100 == 2:
			return nil
		case head.Code == 401 && tried: // tinyproxy 1.11 says so of a wrong login
			return &AuthRequiredError{Tried: true}
		case head.Code != 407:
			return &RefusedError{"http", head.Code}
		}
		authErr := &AuthRequiredError{Challenges: httpauth.Parse(head.values("Proxy-Authenticate")), Tried: tried}
		next := opts.choose(authErr.Challenges)
		refused := tried && !(challenge.Scheme == "digest" && next.Stale())
		if next.Scheme == "" || refused || attempt == attempts {
			return authErr
		}
		if !head.drain(conn) {
			authErr.Tried, authErr.Redial = false, true
			return authErr
		}
		challenge = next
	}
}

// sendConnect sends one CONNECT, with the answer to c unless that is no
// challenge, and reads the head of the reply.
func sendConnect(conn net.Conn, target string, c httpauth.Challenge, opts Options) (*head, error) {
	login := ""
	if c.Scheme != "" {
		var err error
		if login, err = c.Answer(opts.Login, "CONNECT", target, 1); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrOption, err)
		}
	}
	request, err := connectRequest(target, login, opts)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	return readHead(conn)
}

// unasked returns the challenge to answer before the proxy poses one: one
// posed on an earlier connection, or basic. Without a scheme it is none.
func (o *Options) initialChallenge() httpauth.Challenge {
	c := o.choose(o.Challenges)
	if c.Scheme == "" && o.Login.User != "" && o.Auth == httpauth.Basic {
		c.Scheme = "basic"
	}
	return c
}

// choose returns the challenge to answer, or one without a scheme.
func (o *Options) choose(list []httpauth.Challenge) httpauth.Challenge {
	if o.Login.User == "" {
		return httpauth.Challenge{}
	}
	return o.Auth.Choose(list)
}

// connectRequest returns the one request, of which every part is checked.
func connectRequest(target, login string, opts Options) ([]byte, error) {
	var fields []Field
	if !hasField(opts.Header, "Host") {
		fields = append(fields, Field{"Host", target})
	}
	if login != "" {
		fields = append(fields, Field{"Proxy-Authorization", login})
	}
	for _, f := range []Field{{"User-Agent", opts.Agent}, {"Proxy-Connection", "Keep-Alive"}} {
		if f.Value != "" && !hasField(opts.Header, f.Name) {
			fields = append(fields, f)
		}
	}
	fields = append(fields, opts.Header...)
	request := []byte("CONNECT " + target + " HTTP/1.1\r\n")
	for i, f := range fields {
		generated := len(fields)-i > len(opts.Header)
		if !http1.ValidName(f.Name) || http1.HasControl(f.Value) || !generated && reserved(f.Name, login) {
			return nil, fmt.Errorf("%w: header field", ErrOption)
		}
		request = http1.AppendField(request, f.Name, f.Value)
	}
	return append(request, "\r\n"...), nil
}

// kept reports whether a field is none of the caller's: it frames the request,
// belongs to the origin, or is here already.
func reserved(name, login string) bool {
	switch strings.ToLower(name) {
	case "content-length", "transfer-encoding", "authorization", "cookie":
		return true
	case "proxy-authorization":
		return login != ""
	}
	return false
}

func hasField(fields []Field, name string) bool {
	for _, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}
