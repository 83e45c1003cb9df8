package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// Options say what is mirrored, and how. Dir, Seeds and Client are required.
type Options struct {
	Dir    string        // the archive's folder; it is made where there is none
	Seeds  []uri.URI     // typed by a person; a password in one is not kept
	Client *fetch.Client // carries the Policy, robots.txt, delays and retries

	Tree bool // write tree/; also where neither it nor WARC is wanted, and required where the archive has one
	WARC *WARC
	Mail Mailboxes // what news and mail become besides

	Scope  Scope
	Limits Limits

	Hosts   int // asked at a time; 0: 16
	PerHost int // connections to each; 0: 2 for a near one, else 1
	Tries   int // visits to a URL that fails for now, in one run, and pauses for a server that is silent; 0: 3

	Delete    bool    // what the server has no more goes to attic/
	MaxDelete float64 // unless it is more than this share of the tree; 0: 0.1

	FollowLinks  bool             // symbolic links of listings
	IgnoreRobots bool             // follow what a page asks robots not to follow
	Recheck      bool             // ask for what a listing says is as it was
	Marks        Marks            // nil: newsgroups are listed from their first article
	Event        func(Event)      // nil: nobody listens; called by one goroutine at a time
	Progress     func(Progress)   // nil: nobody looks; called now and then
	Now          func() time.Time // nil: time.Now
}

// WARC says what is written into the WARC files.
type WARC struct {
	Prefix    string       // of their names; "": "fetch"
	Size      int64        // at which the next one begins; 0: 1 GB
	Info      fetch.Header // further fields of warcinfo: operator, robots
	Unchanged bool         // a revisit record also where the protocol has no answer for "as it was"
}

// Mailboxes says what becomes of the articles of groups and the messages of
// mailboxes besides tree/ and warc/.
type Mailboxes uint8

const (
	NoMailboxes Mailboxes = iota
	Mbox                  // one mboxrd file a group
	Maildir               // one Maildir a group
)

// Marks remember how far the listing of a newsgroup was read. It is what
// nntp.Marks is to that scheme: the driver lists what comes after the mark, and
// moves it when it has read the listing to its end.
type Marks interface {
	Mark(group uri.URI) string
	SetMark(group uri.URI, mark string)
}

// Summary tells what a run did.
type Summary struct {
	Run       int64
	Again     bool  // there was an earlier run
	New       int64 // objects retrieved, changed ones too
	Same      int64 // requested, and unchanged
	Listed    int64 // not requested, because a listing proves that they are unchanged
	Repaired  int64 // unchanged, and retrieved because their files were missing or damaged
	Gone      int64 // retrieved by an earlier run, and deleted on the server since
	Failed    int64 // failed permanently
	Unreached int64 // their servers could not be reached; they are pending for the next run
	Excluded  int64 // not wanted: out of scope, refused, too large or not of a wanted type
	Bytes     int64 // of the contents of what is new
	Attic     int64 // files that were moved out of the tree
	Left      int64 // pending for this run

	// NewlyFailed counts the URLs that failed in this run or could not be
	// reached, and did not do so in the run before. It is 0 until the run ends.
	NewlyFailed int64

	// URLs that were found and left out, by the limit that did so.
	OverLinks, OverEntries, OverQueue int64
}

// Run mirrors until nothing is left, a limit is reached or ctx ends. A nil error
// means that every URL was retrieved, except those counted in Summary.Failed
// and Summary.Unreached. An archive that another process works on is
// fetch.InUse.
func Run(ctx context.Context, o Options) (Summary, error) {
	if err := o.check(); err != nil {
		return Summary{}, err
	}
	o.fill()
	m, err := open(ctx, o)
	if err != nil {
		return Summary{}, err
	}
	err = fault(m.run(ctx))
	if s, e := m.front.Stats(context.WithoutCancel(ctx)); e == nil {
		m.total.stats(s)
	}
	return m.total.Summary, also(err, m.close())
}

// check refuses what would else be found out behind the first write.
func (o *Options) check() error {
	switch {
	case o.Dir == "":
		return fetch.Usage.Errorf("a mirror without a folder")
	case o.Client == nil:
		return fetch.Usage.Errorf("a mirror without a client")
	case len(o.Seeds) == 0:
		return fetch.Usage.Errorf("a mirror without seeds")
	}
	logins := map[fetch.Origin]fetch.Credential{}
	for _, u := range o.Seeds {
		if u.Scheme() == "" {
			return fetch.BadURL.Errorf("seed %q is no URL but a reference", u)
		}
		if bare := u.WithoutUserinfo(); bare.String() != bare.Unredacted() { // a mistyped login, which an archive would keep
			return fetch.BadURL.Errorf("seed %s: no host", u)
		}
		c, err := o.Client.Credential(u)
		if err != nil {
			return fmt.Errorf("seed %s: %w", u, err)
		}
		origin, ok := originOf(u)
		if c == nil || !ok {
			continue
		}
		// Names in an archive say nothing of users: one's objects would stand
		// for the other's.
		if other, ok := logins[origin]; ok && other != *c {
			return fetch.Usage.Errorf("seeds with two logins for %s: each wants an archive of its own", origin.Host)
		}
		logins[origin] = *c
	}
	return nil
}

func (o *Options) fill() {
	if o.WARC == nil {
		o.Tree = true
	}
	if o.Hosts <= 0 {
		o.Hosts = 16
	}
	if o.Tries <= 0 {
		o.Tries = 3
	}
	if o.MaxDelete <= 0 {
		o.MaxDelete = 0.1
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Event == nil {
		o.Event = func(Event) {}
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
}

// mirror is one run.
type mirror struct {
	Options
	*archive
	scope    *judge
	trust    *trust
	auth     map[fetch.Origin]*fetch.Credential
	total    totals
	tally    tally
	silences silences
	looked   time.Time
	fresh    bool                  // the run was begun by this process
	seeds    map[frontier.Key]bool // of this run; those of others are held to the scope
	origins  sync.Map              // of those whose robots.txt was added
	parts    sync.Map              // of bodies that were cut short, by their names
	metas    metas
	memory   budget
	proofs   proofs // of the batches: one at a time
}

// begin starts or continues a run and adds the seeds.
func (m *mirror) begin(ctx context.Context) error {
	names := make([]string, len(m.Seeds))
	items := make([]frontier.Item, len(m.Seeds))
	for i, u := range m.Seeds {
		items[i] = m.seed(u)
		m.seeds[items[i].Key] = true
		names[i] = items[i].URL
	}
	note, err := json.Marshal(asked{names})
	if err != nil {
		return err
	}
	run, fresh, err := m.front.Begin(ctx, note)
	if err != nil {
		return err
	}
	m.fresh, m.total.Run, m.total.Again = fresh, run, run > 1 || !fresh
	if !fresh {
		if err := m.rejoin(ctx); err != nil {
			return err
		}
	}
	if _, err = m.front.Add(ctx, items); err != nil {
		return err
	}
	return m.recall(ctx)
}

// asked is how a run was asked for: the note of its Begin.
type asked struct {
	Seeds []string `json:"seeds"`
}

// rejoin adds the seeds with which the run was begun to those of this command,
// because the URLs that they led to are still to be visited. The database may
// come from a stranger, so a seed at a domain that this command does not name
// is ignored.
func (m *mirror) rejoin(ctx context.Context) error {
	stats, err := m.front.Stats(ctx)
	var a asked
	if err != nil || json.Unmarshal(stats.Note, &a) != nil {
		return err
	}
	for _, text := range a.Seeds {
		if u, err := uri.Parse(text); err == nil && m.trust.near(u) {
			m.scope.admit(u)
			m.seeds[frontier.KeyOf(canonical(u))] = true
		}
	}
	return nil
}

// lease is how long a dead worker keeps a host from the others.
const lease = time.Minute

func (m *mirror) run(ctx context.Context) error {
	if err := errors.Join(m.begin(ctx), m.space()); err != nil {
		return err
	}
	if err := m.crawl(ctx); err != nil {
		return also(err, m.derive(ctx))
	}
	swept := m.sweep(ctx) // what it leaves, the next run's may take: this one is over
	failed, err := m.failures(ctx)
	m.total.NewlyFailed = failed.fresh
	err = errors.Join(err, m.derive(ctx), m.dropParts(ctx))
	if err == nil {
		err = m.front.End(ctx)
	}
	if err == nil { // later, so that a run which is killed here compares with the one before
		err = fault(failed.write(m))
	}
	return also(swept, err)
}

// crawl visits what the seeds lead to, and then what nothing leads to any more.
func (m *mirror) crawl(ctx context.Context) error {
	for {
		if err := m.drain(ctx, fmt.Sprint(os.Getpid())); err != nil {
			return err
		}
		n, err := m.front.Revive(ctx)
		if n == 0 || err != nil {
			return err
		}
	}
}
