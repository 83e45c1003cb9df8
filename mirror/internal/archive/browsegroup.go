package archive

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// A messageRef refers to a message in a newsgroup or a mailbox.
type messageRef struct {
	key      frontier.Key
	received time.Time
}

// collectMessages finds the messages of each newsgroup and mailbox in the
// database. The archived listings contain only the messages that were new in
// the last run.
func (b *browser) collectMessages() error {
	b.messages = map[string][]messageRef{}
	b.groups = map[string]frontier.Key{}
	groups := map[string]bool{}
	err := b.a.eachRetrieved(b.ctx, func(it frontier.Item, _ frontier.State) error {
		if c := it.LastCapture; c.Kind == fetch.Menu.String() && b.isNews(c.URL) {
			box := b.boxOf(c.URL)
			b.groups[box], groups[box] = it.Key, true
		}
		return nil
	})
	if err != nil {
		return err
	}
	w := &mailboxWriter{a: b.a, mail: &Mail{Origin: b.Origin}, ctx: b.ctx, groups: groups}
	err = w.eachMessage(func(it frontier.Item, listing string, received time.Time) error {
		boxes, err := w.boxes(it, listing)
		if err != nil {
			return skipMissing(err)
		}
		for _, box := range boxes {
			b.messages[box] = append(b.messages[box], messageRef{it.LastCapture.Key, received})
		}
		return nil
	})
	for _, refs := range b.messages {
		slices.SortStableFunc(refs, func(a, b messageRef) int { return a.received.Compare(b.received) })
	}
	return err
}

// isNews reports whether the scheme of a URL has newsgroups.
func (b *browser) isNews(text string) bool {
	scheme, _, _ := strings.Cut(text, ":")
	return b.Scheme(scheme).Mirror.Article != nil
}

// boxOf returns the name of the mailbox or newsgroup whose listing has the
// given URL.
func (b *browser) boxOf(listing string) string {
	server, box := b.a.boxName(listing)
	return server + "/" + box
}

// messageEntries returns messages as entries of a listing.
func (b *browser) messageEntries(refs []messageRef) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		for _, ref := range refs {
			e, err := b.messageEntry(ref)
			if errors.Is(err, os.ErrNotExist) {
				continue // the file is in the attic
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// messageEntry returns the entry of a message, with the header fields that are
// needed to group messages into threads.
func (b *browser) messageEntry(ref messageRef) (e fetch.Entry, err error) {
	found, err := b.a.frontier.NewestCaptures(b.ctx, []frontier.Key{ref.key})
	if err != nil {
		return e, err
	}
	c := found[ref.key]
	u, err := uri.Parse(c.URL)
	if err != nil {
		return e, err
	}
	body, err := b.a.Reopen(b.ctx, &c)
	if err != nil {
		return e, err
	}
	defer body.Close()
	head, _ := rfc822.ReadHeader(body)
	h := rfc822.ParseHeader(head)
	e = fetch.Entry{URL: u, Kind: fetch.Document, Media: c.Media, Size: c.Size, Time: rfc822.ParseDate(h.Get("Date"))}
	if e.Time.IsZero() {
		e.Time = ref.received
	}
	e.Name = cmp.Or(rfc822.DecodeWords(h.Get("Subject")), strings.Trim(h.Get("Message-ID"), "<> "), c.URL)
	e.Extra = map[string]string{
		"from": rfc822.DecodeWords(h.Get("From")), "message_id": h.Get("Message-ID"),
		"references": cmp.Or(h.Get("References"), h.Get("In-Reply-To")),
	}
	return e, nil
}

// An entrySource divides the entries of a listing into pages. It reads each
// entry once.
type entrySource struct {
	next  func() (fetch.Entry, error, bool)
	stop  func()
	taken []taken // entries of the current page
	again []taken // entries that the next page reads first
}

type taken struct {
	entry fetch.Entry
	err   error
}

func newEntrySource(seq iter.Seq2[fetch.Entry, error]) *entrySource {
	s := &entrySource{}
	s.next, s.stop = iter.Pull2(seq)
	return s
}

// menu returns the remaining entries, starting with the first entry of the next
// page. It has the type of fetch.Scheme.Menu.
func (s *entrySource) menu(uri.URI, string, io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		s.taken = s.taken[:0]
		for {
			var t taken
			if len(s.again) > 0 {
				t, s.again = s.again[0], s.again[1:]
			} else {
				var ok bool
				if t.entry, t.err, ok = s.next(); !ok {
					return
				}
			}
			s.taken = append(s.taken, t)
			if !yield(t.entry, t.err) {
				return
			}
		}
	}
}

// unread puts back the entries of the current page, except for the first shown
// ones, so that the next page starts with them.
func (s *entrySource) unread(shown int) {
	s.again = append(slices.Clone(s.taken[shown:]), s.again...)
}
