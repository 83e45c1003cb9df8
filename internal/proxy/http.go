package proxy

import (
	"encoding/base64"
	"fmt"
	"net"
	"strings"
)

// connectHTTP asks by CONNECT, and again on the same connection where the
// proxy wants a login and lets the connection live.
func connectHTTP(conn net.Conn, to destination, opts Options) error {
	const attempts = 3 // without a login, with it, with a fresh nonce
	answered := opts.unasked()
	for attempt := 1; ; attempt++ {
		head, err := ask(conn, to.String(), answered, opts)
		if err != nil {
			return err
		}
		tried := answered.Scheme != ""
		switch {
		case head.code/100 == 2:
			return nil
		case head.code == 401 && tried: // tinyproxy 1.11 says so of a wrong login
			return &AuthRequired{Tried: true}
		case head.code != 407:
			return &Refused{"http", head.code}
		}
		need := &AuthRequired{Challenges: ParseChallenges(head.values("proxy-authenticate")), Tried: tried}
		next := opts.choose(need.Challenges)
		refused := tried && !(answered.Scheme == "digest" && next.stale())
		if next.Scheme == "" || refused || attempt == attempts {
			return need
		}
		if !head.drain(conn) {
			need.Tried, need.Redial = false, true
			return need
		}
		answered = next
	}
}

// ask sends one CONNECT, with the answer to c unless that is no challenge, and
// reads the head of the reply.
func ask(conn net.Conn, target string, c Challenge, opts Options) (*head, error) {
	login := ""
	if c.Scheme != "" {
		var err error
		if login, err = c.Answer(opts.Login, "CONNECT", target, 1); err != nil {
			return nil, err
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
func (o *Options) unasked() Challenge {
	c := o.choose(o.Challenges)
	if c.Scheme == "" && o.Login.User != "" && o.Auth == Basic {
		c.Scheme = "basic"
	}
	return c
}

// choose returns the challenge to answer, or one without a scheme.
func (o *Options) choose(list []Challenge) (best Challenge) {
	if o.Login.User == "" {
		return best
	}
	for _, c := range list {
		switch {
		case c.Scheme == "digest" && o.Auth != Basic && c.usable():
			return c
		case c.Scheme == "basic" && o.Auth != Digest && best.Scheme == "":
			best = c
		}
	}
	return best
}

// connectRequest returns the one request, of which every part is checked.
func connectRequest(target, login string, opts Options) ([]byte, error) {
	var fields []Field
	if !has(opts.Header, "Host") {
		fields = append(fields, Field{"Host", target})
	}
	if login != "" {
		fields = append(fields, Field{"Proxy-Authorization", login})
	}
	for _, f := range []Field{{"User-Agent", opts.Agent}, {"Proxy-Connection", "Keep-Alive"}} {
		if f.Value != "" && !has(opts.Header, f.Name) {
			fields = append(fields, f)
		}
	}
	fields = append(fields, opts.Header...)
	request := "CONNECT " + target + " HTTP/1.1\r\n"
	for i, f := range fields {
		own := len(fields)-i > len(opts.Header)
		if !isToken(f.Name) || hasControl(f.Value) || !own && kept(f.Name, login) {
			return nil, fmt.Errorf("%w: header field", ErrOption)
		}
		request += f.Name + ": " + f.Value + "\r\n"
	}
	return []byte(request + "\r\n"), nil
}

// kept reports whether a field is none of the caller's: it frames the request,
// belongs to the origin, or is here already.
func kept(name, login string) bool {
	switch strings.ToLower(name) {
	case "content-length", "transfer-encoding", "authorization", "cookie":
		return true
	case "proxy-authorization":
		return login != ""
	}
	return false
}

func has(fields []Field, name string) bool {
	for _, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// isToken and hasControl are the grammar of RFC 9110 5.6.2 and 5.5.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// basic returns the credentials of RFC 7617.
func basic(l Login) (string, error) {
	if strings.Contains(l.User, ":") || hasControl(l.User) || hasControl(l.Password) {
		return "", fmt.Errorf("%w: colon or control in the login", ErrOption)
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.User+":"+l.Password)), nil
}
