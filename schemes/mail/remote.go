package mail

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/pool"
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
	d := &driver{Options: o, env: env, port: portOf(u), implicit: implicit, idle: pool.Pool[*session]{Idle: idleTime, Done: env.Done}}
	return &remote{driver: d, url: u, task: task{locator: l, at: place{t, implicit}}}, nil
}

// ask carries out one task for req, whose URL names no server.
func (r *remote) ask(ctx context.Context, req *fetch.Request, change func(*task)) (*fetch.Response, error) {
	auth, err := fetch.CredentialOf(r.url)
	if err != nil {
		return nil, fetch.Usage.Errorf("mail store %s: %w", r.url, err)
	}
	inner := &fetch.Request{URL: r.url, Op: req.Op, Auth: auth, Trace: req.Trace}
	who, err := loginOf(inner, r.driver.Mechanism)
	if err != nil {
		return nil, err
	}
	who.ask = r.driver.StoreLogin
	t := r.task
	t.req, t.who = inner, who
	change(&t)
	return r.driver.ask(ctx, &t)
}

func (r *remote) find(ctx context.Context, req *fetch.Request, id string) (*fetch.Response, error) {
	return r.ask(ctx, req, func(t *task) {
		t.kind, t.search = byID, "HEADER Message-ID "+quote(id)
	})
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
	return func(yield func(letter, error) bool) {
		resp, err := r.ask(ctx, &fetch.Request{Trace: req.Trace}, func(t *task) {
			t.kind, t.search, t.keep = found, wanted.program(), wanted.inEnvelope
		})
		if err != nil {
			yield(letter{}, err)
			return
		}
		defer resp.Body.Close()
		list, ok := resp.Body.(*body).reader.(*listing)
		if !ok {
			return // nothing is found
		}
		for {
			e, err := list.from.next()
			if err == io.EOF {
				resp.Body.(*body).finish(true)
				return
			}
			if !yield(r.letter(ctx, req, e), err) || err != nil {
				return
			}
		}
	}
}

// letter is the message of an entry. It comes over another session: this one
// is telling what it has.
func (r *remote) letter(ctx context.Context, req *fetch.Request, e fetch.Entry) letter {
	return letter{e, func() (io.ReadCloser, error) {
		l, err := locate(e.URL)
		if err != nil {
			return nil, err
		}
		resp, err := r.ask(ctx, &fetch.Request{Trace: req.Trace}, func(t *task) { t.locator = l })
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}}
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
