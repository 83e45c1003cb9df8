package pop

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// open reads the greeting, starts TLS if possible, and logs in.
func (d *driver) open(ctx context.Context, s *session, req *fetch.Request) error {
	if err := s.readGreeting(); err != nil {
		return err
	}
	if err := s.requestCapabilities(); err != nil {
		return err
	}
	if !d.implicitTLS {
		if err := d.startTLS(ctx, s); err != nil {
			return err
		}
	}
	return d.login(ctx, s, req)
}

// login authenticates the session. If the server rejects the credentials, login
// requests other credentials and tries once more.
func (d *driver) login(ctx context.Context, s *session, req *fetch.Request) (err error) {
	who := login{auth: req.Auth, mechanism: d.mechanism(req), typed: req.Typed()}
	challenge := fetch.Challenge{Origin: s.target.Origin(), Realm: "pop"}
	if who.auth == nil || who.needsPassword() {
		if who.auth, err = sessions.FindPassword(ctx, d.env.Login, who.auth, challenge); err != nil {
			return err
		}
	}
	r, option, err := d.authenticate(s, who)
	if err != nil || r.ok {
		return err
	}
	refusal := r.fail(fetch.Auth)
	if s.IsBroken() || fetch.FaultOf(refusal) != fetch.Auth {
		return refusal
	}
	if option != "" {
		refusal = override.With(refusal, override.Setting{Kind: OverrideMechanism, Value: option})
	} else {
		refusal = sessions.NeedLogin(fetch.Auth, refusal)
	}
	if who.auth != nil {
		challenge.User = who.auth.User
	}
	challenge.Realm, challenge.Rejected = r.text, true
	found, err := sessions.AskFor(ctx, d.env.Login, challenge)
	if found == nil || err != nil {
		return cmp.Or(err, refusal)
	}
	who.auth = found
	if r, _, err = d.authenticate(s, who); err == nil && !r.ok {
		err = r.fail(fetch.Auth)
	}
	return err
}

// A login contains the credentials and the mechanism with which a session
// authenticates.
type login struct {
	auth      *fetch.Credential // nil for an anonymous login
	mechanism string            // in upper case; "" or "*" for any
	typed     bool              // the user entered the URL
}

func (l login) needsPassword() bool { return l.mechanism != "EXTERNAL" && l.mechanism != "ANONYMOUS" }

// authUser sends USER and PASS.
func (s *session) authUser(auth *fetch.Credential) (reply, error) {
	r, err := s.command("USER", auth.User)
	if err != nil || !r.ok {
		return r, err
	}
	if err := s.AddSecretCommand("PASS", auth.Password.Reveal()); err != nil {
		return r, err
	}
	return s.readReply()
}

// authAPOP sends APOP with the digest of the timestamp and the password.
func (s *session) authAPOP(auth *fetch.Credential) (reply, error) {
	if s.timestamp == "" {
		return reply{}, fetch.Auth.Errorf("server does not offer APOP")
	}
	digest := md5.Sum([]byte(s.timestamp + auth.Password.Reveal()))
	return s.command("APOP", auth.User, hex.EncodeToString(digest[:]))
}

// authSASL sends AUTH (RFC 5034) and responds to the challenges of the server.
// It sends the initial response after the first challenge, because all servers
// support this.
func (s *session) authSASL(name string, x sasl.Exchange) (reply, error) {
	r, err := s.command("AUTH", name)
	for round := 0; err == nil && r.more; round++ {
		if round == sasl.MaxChallenges {
			s.Break()
			return r, fetch.Protocol.Errorf("too many challenges in authentication by %s", name)
		}
		var answer []byte
		if round == 0 && x.Initial != nil {
			answer = x.Initial()
		} else if answer, err = x.AnswerChallenge(r.text); err != nil {
			s.Send([]byte("*\r\n"), []byte("*\r\n"))
			if _, lost := s.readReply(); lost != nil || err == sasl.ErrServerSignature {
				s.Break()
			}
			return reply{}, err
		}
		if err = s.Send([]byte(sasl.Encode(answer, "")+"\r\n"), []byte("***\r\n")); err == nil {
			r, err = s.readReply()
		}
	}
	if err == nil && r.ok && x.Verify != nil {
		if err = x.Verify(); err != nil {
			s.Break()
		}
	}
	return r, err
}
