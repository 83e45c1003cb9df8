package mail

import (
	"context"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
	"github.com/anyurl/fetch/uri"
	"github.com/emersion/go-imap/v2"
)

// remote is a mailbox of an imap server as a store.
type remote struct {
	driver *driver
	url    uri.URI
	task   task // what every task has
}

func (o Options) newRemote(u uri.URI, env fetch.Env) (store, error) {
	l, err := locate(u)
	if err == nil && l.kind != server && l.kind != messages {
		err = fetch.Usage.Errorf("it names no mailbox")
	}
	if err != nil {
		return nil, fetch.Usage.Errorf("mail store %s: %w", u, err)
	}
	if l.kind == server {
		l.kind, l.mailbox = messages, "INBOX"
		p := u.Parts()
		p.Path = "/INBOX"
		if u, err = uri.Build(p); err != nil {
			return nil, fetch.Usage.Errorf("mail store: %w", err)
		}
	}
	t, err := fetch.TargetOf(u, portOf(u))
	if err != nil {
		return nil, err
	}
	if t.Host == "" {
		return nil, fetch.Usage.Errorf("mail store %s: no host", u)
	}
	implicit := u.Scheme() == "imaps"
	d := &driver{Options: o, env: env, port: portOf(u), implicit: implicit, idle: sessions.Pool[*session]{Done: env.Done}}
	return &remote{driver: d, url: u, task: task{locator: l, at: place{t, implicit}}}, nil
}

// newTask is a task for a request whose URL names no server.
func (r *remote) newTask(op fetch.Op, trace *fetch.Trace) (*task, error) {
	auth, err := userOf(r.url)
	if err != nil {
		return nil, fetch.Usage.Errorf("mail store %s: %w", r.url, err)
	}
	q := r.task
	q.req = &fetch.Request{URL: r.url, Op: op, Auth: auth, Trace: trace}
	if q.who, err = loginOf(q.req, r.driver.Mechanism); err != nil {
		return nil, err
	}
	q.who.ask = r.driver.StoreLogin
	return &q, nil
}

func (r *remote) find(ctx context.Context, req *fetch.Request, id string) (*fetch.Response, error) {
	q, err := r.newTask(req.Op, req.Trace)
	if err != nil {
		return nil, err
	}
	q.kind, q.search = byID, "HEADER Message-ID "+quote(id)
	return r.driver.ask(ctx, q)
}

// byID brings the message that the search of q finds first.
func (s *session) byID(q *task) (*fetch.Response, error) {
	set, err := s.search(q.search)
	if err != nil {
		return nil, err
	}
	first, _ := take(set, 1)
	if len(first) == 0 {
		return nil, fetch.NotFound.Errorf("no message with that id in the mailbox")
	}
	one := *q
	one.kind, one.uid = message, uint32(first[0].Start)
	return s.message(&one)
}

func (r *remote) about(ctx context.Context, req *fetch.Request, wanted addressSet) iter.Seq2[letter, error] {
	q, err := r.newTask(fetch.Get, req.Trace)
	if err != nil {
		return func(yield func(letter, error) bool) { yield(letter{}, err) }
	}
	q.kind, q.search, q.keep = found, wanted.program(), wanted.inEnvelope
	return r.driver.letters(ctx, q, new(fetch.Response))
}

// program is the search for any of the addresses.
func (a addressSet) program() string {
	var keys []string
	for _, address := range a {
		for _, key := range []string{"FROM ", "TO ", "CC "} {
			keys = append(keys, key+quote(address))
		}
	}
	return strings.Repeat("OR ", len(keys)-1) + strings.Join(keys, " ")
}

func (a addressSet) inEnvelope(e *imap.Envelope) bool {
	for _, list := range [][]imap.Address{e.From, e.Sender, e.To, e.Cc} {
		for _, one := range list {
			if a.has(one.Addr()) {
				return true
			}
		}
	}
	return false
}
