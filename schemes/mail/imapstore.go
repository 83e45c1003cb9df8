package mail

import (
	"context"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/internal/sasl"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
	"github.com/emersion/go-imap/v2"
)

// An imapStore is a mail store in a mailbox on an IMAP server.
type imapStore struct {
	driver *driver
	url    uri.URI
	task   task // template for the tasks of the store
}

func (o Options) newIMAPStore(u uri.URI, env fetch.Env) (store, error) {
	l, err := parseLocator(u)
	if err == nil && l.kind != kindServer && l.kind != kindMailbox {
		err = fetch.Usage.Errorf("URL does not name a mailbox")
	}
	if err != nil {
		return nil, fetch.Usage.Errorf("mail store %s: %w", u, err)
	}
	if l.kind == kindServer {
		l.kind, l.mailbox = kindMailbox, "INBOX"
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
	d := &driver{
		Options: o, env: env, port: portOf(u), implicitTLS: implicit,
		idle: sessions.Pool[*session]{Done: env.Done},
	}
	return &imapStore{driver: d, url: u, task: task{locator: l, target: t}}, nil
}

// newTask returns a task with the URL and the credentials of the store.
func (r *imapStore) newTask(op fetch.Op, trace *trace.Trace) (*task, error) {
	auth, err := sasl.ParseUserinfo(r.url)
	if err != nil {
		return nil, fetch.Usage.Errorf("mail store %s: %w", r.url, err)
	}
	q := r.task
	q.req = &fetch.Request{URL: r.url, Op: op, Auth: auth, Trace: trace}
	if q.creds, err = credentialsOf(q.req, r.driver.Mechanism); err != nil {
		return nil, err
	}
	q.creds.prompt = r.driver.StoreLogin
	return &q, nil
}

func (r *imapStore) find(ctx context.Context, req *fetch.Request, id string) (*fetch.Response, error) {
	q, err := r.newTask(req.Op, req.Trace)
	if err != nil {
		return nil, err
	}
	q.kind, q.search = kindMessageID, "HEADER Message-ID "+quote(id)
	return r.driver.request(ctx, q)
}

// messageByID searches the mailbox for the Message-ID in q.search and returns
// the first message found.
func (s *session) messageByID(q *task) (*fetch.Response, error) {
	set, err := s.search(q.search)
	if err != nil {
		return nil, err
	}
	first, _ := splitUIDs(set, 1)
	if len(first) == 0 {
		return nil, fetch.NotFound.Errorf("no message with that id in the mailbox")
	}
	messageTask := *q
	messageTask.kind, messageTask.uid = kindMessage, uint32(first[0].Start)
	return s.message(&messageTask)
}

func (r *imapStore) matching(
	ctx context.Context, req *fetch.Request, wanted addressSet,
) iter.Seq2[storedMessage, error] {
	q, err := r.newTask(fetch.Get, req.Trace)
	if err != nil {
		return func(yield func(storedMessage, error) bool) { yield(storedMessage{}, err) }
	}
	q.kind, q.search, q.filter = kindSearch, wanted.searchProgram(), wanted.matchesEnvelope
	return r.driver.searchMessages(ctx, q, new(fetch.Response))
}

// searchProgram returns IMAP search keys that match messages from or to any
// address in the set.
func (a addressSet) searchProgram() string {
	var keys []string
	for _, address := range a {
		for _, key := range []string{"FROM ", "TO ", "CC "} {
			keys = append(keys, key+quote(address))
		}
	}
	return strings.Repeat("OR ", len(keys)-1) + strings.Join(keys, " ")
}

func (a addressSet) matchesEnvelope(e *imap.Envelope) bool {
	for _, list := range [][]imap.Address{e.From, e.Sender, e.To, e.Cc} {
		for _, one := range list {
			if a.contains(one.Addr()) {
				return true
			}
		}
	}
	return false
}
