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
	const attempts = 3 // without credentials, with credentials, with a new nonce
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
		case head.Code == 401 && tried: // tinyproxy 1.11 sends 401 for wrong credentials
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

// sendConnect sends a CONNECT request and reads the head of the reply. If c has
// a Scheme, the request answers the challenge c.
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

// initialChallenge returns the challenge that the first request answers. It is
// one of Options.Challenges or, for the method Basic, a Basic challenge. It
// returns a Challenge without a Scheme if the first request has no credentials.
func (o *Options) initialChallenge() httpauth.Challenge {
	c := o.choose(o.Challenges)
	if c.Scheme == "" && o.Login.User != "" && o.Auth == httpauth.Basic {
		c.Scheme = "basic"
	}
	return c
}

// choose returns the preferred challenge in list, or a Challenge without a
// Scheme if there are no credentials for it.
func (o *Options) choose(list []httpauth.Challenge) httpauth.Challenge {
	if o.Login.User == "" {
		return httpauth.Challenge{}
	}
	return o.Auth.Choose(list)
}

// connectRequest returns a CONNECT request. It returns an error for invalid and
// reserved header fields in opts.
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
			return nil, fmt.Errorf("%w: header field is invalid or reserved", ErrOption)
		}
		request = http1.AppendField(request, f.Name, f.Value)
	}
	return append(request, "\r\n"...), nil
}

// reserved reports whether the caller may not set a field. Such a field frames
// the request, is meant for the origin, or is generated.
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
