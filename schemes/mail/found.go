package mail

import (
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/emersion/go-imap/v2"
)

// found lists the messages that the search of q finds.
func (s *session) found(q *task) (*fetch.Response, error) {
	resp := s.mailbox.response()
	if q.req.Op == fetch.Stat {
		return resp, nil
	}
	set, err := s.search(q.search)
	if err != nil || len(set) == 0 {
		return resp, err
	}
	resp.Body = newListing(&finds{s: s, trace: q.req.Trace, namer: newNamer(q.req.URL), keep: q.keep, left: set})
	return resp, nil
}

// search returns the UIDs of the messages that a program finds in the mailbox.
// Where the server can tell ranges, it does (RFC 4731).
func (s *session) search(text string) (imap.UIDSet, error) {
	p, err := parseProgram(text)
	if err != nil {
		return nil, err
	}
	verb := "UID SEARCH "
	if s.caps["ESEARCH"] || s.caps["IMAP4REV2"] {
		verb += "RETURN (ALL) "
	}
	words, waits := p.wire(s.nonSync())
	for i := range waits {
		waits[i] += len(verb)
	}
	s.guard.beginLarge(verb+words, foundSize, waits...)
	data, err := s.client.UIDSearch(&imap.SearchCriteria{}, nil).Wait()
	if err != nil {
		return nil, s.fault("SEARCH", fetch.Denied, err)
	}
	s.MarkAnswered()
	set, _ := data.All.(imap.UIDSet)
	return set, nil
}

// nonSync returns the length up to which the server accepts literals that do
// not wait for it (RFC 7888).
func (s *session) nonSync() int {
	switch {
	case s.caps["LITERAL+"]:
		return maxProgram
	case s.caps["LITERAL-"] || s.caps["IMAP4REV2"]:
		return 4096
	}
	return 0
}

// finds lists a set of messages, some at a time: no command has room for many
// numbers.
type finds struct {
	s     *session
	trace *fetch.Trace
	namer namer
	keep  func(*imap.Envelope) bool // nil: all

	left imap.UIDSet
	some imap.UIDSet // of now, and not yet told
	now  *series
	bare bool // only numbers from now on
}

// atOnce is how many messages one command asks for.
const atOnce = 200

func (f *finds) next() (fetch.Entry, error) {
	for !f.bare {
		if f.now == nil {
			if len(f.left) == 0 {
				return fetch.Entry{}, io.EOF
			}
			f.some, f.left = take(f.left, atOnce)
			f.now = f.s.summaries(f.namer, f.some, f.keep)
		}
		e, err := f.now.next()
		switch {
		case err == io.EOF:
			f.now = nil
			continue
		case err != nil && isNonsense(err) && f.keep == nil:
			f.trace.Notef("server describes the messages found in a way that makes no sense: their numbers alone follow")
			f.bare, f.left = true, append(f.some, f.left...)
			continue
		}
		if n, bad := strconv.ParseUint(e.Extra["uid"], 10, 32); err == nil && bad == nil {
			f.some = without(f.some, imap.UID(n))
		}
		return e, err
	}
	return f.number()
}

// number tells the next message by its number alone.
func (f *finds) number() (e fetch.Entry, err error) {
	f.some, f.left = take(f.left, 1)
	if len(f.some) == 0 {
		return e, io.EOF
	}
	name := f.some.String()
	return fetch.Entry{Name: name, Kind: fetch.Document, Media: messageMedia, Size: -1,
		URL: f.namer.message(f.s.mailbox, uint32(f.some[0].Start)), Extra: map[string]string{"uid": name}}, nil
}

func (f *finds) close() {
	if f.now != nil {
		f.now.close()
	}
}

// take parts a set after its first n numbers.
func take(set imap.UIDSet, n uint32) (some, rest imap.UIDSet) {
	for i, r := range set {
		if r.Start == 0 || r.Stop == 0 {
			continue // not a number of a message
		}
		size := uint32(r.Stop - r.Start) // one less than it is
		if size >= n {
			middle := r.Start + imap.UID(n)
			rest = append(imap.UIDSet{{Start: middle, Stop: r.Stop}}, set[i+1:]...)
			return append(some, imap.UIDRange{Start: r.Start, Stop: middle - 1}), rest
		}
		some = append(some, r)
		if n -= size + 1; n == 0 {
			return some, set[i+1:]
		}
	}
	return some, nil
}

// without is set less one number.
func without(set imap.UIDSet, n imap.UID) (rest imap.UIDSet) {
	for _, r := range set {
		if n < r.Start || n > r.Stop {
			rest = append(rest, r)
			continue
		}
		if r.Start < n {
			rest = append(rest, imap.UIDRange{Start: r.Start, Stop: n - 1})
		}
		if n < r.Stop {
			rest = append(rest, imap.UIDRange{Start: n + 1, Stop: r.Stop})
		}
	}
	return rest
}

// query asks a mailbox for the messages whose text has all the words.
func query(u uri.URI, search fetch.Search) (uri.URI, error) {
	if len(search.Like) > 0 {
		return uri.URI{}, fetch.Unsupported.Errorf("imap finds words, not messages that resemble others")
	}
	var keys []string
	for word := range strings.FieldsSeq(search.Words) {
		keys = append(keys, "TEXT "+quote(word))
	}
	if len(keys) == 0 {
		return uri.URI{}, fetch.NeedQuery.Errorf("search without words")
	}
	p := u.Parts()
	p.Query, p.HasQuery = uri.Escape(strings.Join(keys, " "), uri.Unreserved), true
	found, err := uri.Build(p)
	if err != nil {
		return uri.URI{}, fetch.BadURL.With(err)
	}
	_, err = locate(found)
	return found, err
}
