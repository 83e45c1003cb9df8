package sessions

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// pipeNet is a fetch.Net whose connections lead to a server that sends nothing.
type pipeNet struct {
	fetch.Net
	t     *testing.T
	dials int
}

func (n *pipeNet) Key(context.Context) string { return "typed" }

func (n *pipeNet) DialContext(context.Context, string, string) (net.Conn, error) {
	n.dials++
	client, server := net.Pipe()
	n.t.Cleanup(func() { server.Close() })
	return client, nil
}

// TestRetriever tests with which credentials a Retriever opens sessions.
func TestRetriever(t *testing.T) {
	alice := &fetch.Credential{User: "alice", Password: "a"}
	incomplete := &fetch.Credential{User: "alice", Incomplete: true}
	from := &fetch.Source{URL: uri.MustParse("http://h/")}
	failed := errors.New("the prompt failed")
	for _, c := range []struct {
		name    string
		auth    *fetch.Credential
		from    *fetch.Source
		prompt  bool
		answer  *fetch.Credential // result of the prompt
		failed  error             // error of the prompt
		rejects string            // user whom the server rejects
		opened  string            // users of the opened sessions
		asked   string            // users in the challenges
		want    error
	}{
		{name: "anonymous", opened: "-"},
		{name: "a user", auth: alice, opened: "alice"},
		{name: "rejected, but the scheme does not prompt", rejects: "-", opened: "-", want: fetch.Auth},
		{name: "rejected, then another credential", prompt: true, answer: alice, rejects: "-", opened: "- alice", asked: "guess"},
		{name: "rejected, and no other credential", prompt: true, rejects: "-", opened: "-", asked: "guess", want: fetch.Auth},
		{name: "rejected, and the prompt fails", prompt: true, failed: failed, rejects: "-", opened: "-", asked: "guess", want: failed},
		{name: "rejected, but a server supplied the URL", prompt: true, from: from, answer: alice, rejects: "-", opened: "-", want: fetch.Auth},
		{name: "rejected with a credential", prompt: true, auth: alice, answer: alice, rejects: "alice", opened: "alice", want: fetch.Auth},
		{name: "the password is missing", prompt: true, auth: incomplete, answer: alice, opened: "alice", asked: "alice"},
		{name: "the password is missing, and there is none", prompt: true, auth: incomplete, asked: "alice", want: fetch.Auth},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &pipeNet{t: t}
			var pool Pool[*Conn]
			var opened, asked string
			add := func(list *string, user string) {
				if *list != "" {
					*list += " "
				}
				*list += user
			}
			r := Retriever[*Conn]{
				Pool: &pool, Request: &fetch.Request{From: c.from}, Target: fetch.Target{Scheme: "x", Host: "h", Port: 7},
				Auth: c.auth, Prompt: c.prompt, User: "guess",
				New: func(conn *Conn) *Conn { return conn },
				Open: func(_ context.Context, _ *Conn, auth *fetch.Credential) error {
					user := "-"
					if auth != nil {
						user = auth.User
					}
					if add(&opened, user); user == c.rejects {
						return fetch.Auth.Errorf("rejected")
					}
					return nil
				},
			}
			r.Env.Net, r.Env.Login = n, func(_ context.Context, ch fetch.Challenge) (*fetch.Credential, error) {
				add(&asked, ch.User)
				return c.answer, c.failed
			}
			resp, err := r.Do(t.Context(), func(l *Lease[*Conn]) (*fetch.Response, error) {
				l.End(false)
				return new(fetch.Response), nil
			})
			if opened != c.opened || asked != c.asked || !errors.Is(err, c.want) || (resp == nil) != (err != nil) {
				t.Errorf("opened %q, asked %q, %v, %v", opened, asked, resp, err)
			}
		})
	}
}

// TestRetrieverCanceled tests that a canceled request uses no session.
func TestRetrieverCanceled(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	n := &pipeNet{t: t}
	r := Retriever[*Conn]{Pool: new(Pool[*Conn]), Env: fetch.Env{Net: n}, Request: new(fetch.Request)}
	if _, err := r.Do(ctx, nil); err != why || n.dials != 0 {
		t.Errorf("%v, %d dials", err, n.dials)
	}
}

// TestRetrieverAddress tests that a response has the TLS state of its session,
// unless the driver has described another connection.
func TestRetrieverAddress(t *testing.T) {
	state := &tls.ConnectionState{ServerName: "h"}
	failed := errors.New("failed")
	for _, c := range []struct {
		name string
		resp *fetch.Response // of the driver
		err  error
		tls  *tls.ConnectionState
	}{
		{"no address", new(fetch.Response), nil, state},
		{"the driver has set an address", &fetch.Response{Peer: netip.MustParseAddr("192.0.2.1")}, nil, nil},
		{"failed", nil, failed, nil},
	} {
		r := Retriever[*Conn]{
			Pool: new(Pool[*Conn]), Env: fetch.Env{Net: &pipeNet{t: t}}, Request: new(fetch.Request),
			New:  func(conn *Conn) *Conn { return conn },
			Open: func(_ context.Context, conn *Conn, _ *fetch.Credential) error { conn.TLS = state; return nil },
		}
		resp, err := r.Do(t.Context(), func(l *Lease[*Conn]) (*fetch.Response, error) {
			l.End(false)
			return c.resp, c.err
		})
		if resp != c.resp || err != c.err || resp != nil && resp.TLS != c.tls {
			t.Errorf("%s: got %v, %v", c.name, resp, err)
		}
	}
}

// TestRequireQuiet tests that a session with received bytes is not reused.
func TestRequireQuiet(t *testing.T) {
	client, server := net.Pipe()
	defer server.Close()
	c := NewConn(client, nil, "")
	unread := 0
	c.RequireQuiet(func() int { return unread })
	if !c.Release() {
		t.Error("a session without received bytes was not released")
	}
	unread = 1
	if c.Release() || c.Claim(nil) {
		t.Error("a session with received bytes was reused")
	}
	c.Close()
}
