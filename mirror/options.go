package mirror

import (
	"fmt"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Options say what is mirrored, and how. Dir, Seeds and Client are required.
type Options struct {
	Dir    string        // the archive's folder; it is made where there is none
	Seeds  []uri.URI     // typed by a person; a password in one is not kept
	Client *fetch.Client // carries the Policy, the credentials and the retries

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

	FollowLinks bool // symbolic links of listings

	// Run obeys the robots.txt of each site and pauses between the requests to a
	// host. Each attempt of a request waits, also if a middleware of the Client
	// retries it. A Client needs no [wrap.Polite] for this. If it has one, both
	// apply: the longer pause counts, and each robots.txt is read twice.
	Agent        string        // product token that robots.txt addresses; "" means "fetch"
	IgnoreRobots bool          // ignore robots.txt, and follow links that a page marks as nofollow
	Delay        time.Duration // between the starts of two requests to a host; 0 means one second unless the host is [Near]; negative means none

	Recheck  bool             // ask for what a listing says is as it was
	Marks    Marks            // nil: newsgroups are listed from their first article
	Event    func(Event)      // nil: nobody listens; called by one goroutine at a time
	Progress func(Progress)   // nil: nobody looks; called now and then
	Now      func() time.Time // nil: time.Now

	// Override returns the text of Event.Override, such as a flag. If it is
	// nil, the text is the name and the value of the setting.
	Override func(fetch.Override) string
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

// check refuses what would else be found out behind the first write.
func (o *Options) validate() error {
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

func (o *Options) setDefaults() {
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
	if o.Override == nil {
		o.Override = fetch.Override.String
	}
	if o.Event == nil {
		o.Event = func(Event) {}
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Agent == "" {
		o.Agent = "fetch"
	}
	o.Client = o.Client.With(o.politeness())
}
