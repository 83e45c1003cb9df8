package mail

import (
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
	"github.com/emersion/go-imap/v2"
)

// listSearch performs the search of the URL and returns a response that lists
// the messages found.
func (s *session) listSearch(q *task) (*fetch.Response, error) {
	resp := s.mailbox.listingResponse()
	if q.req.Op == fetch.Stat {
		return resp, nil
	}
	set, err := s.search(q.search)
	if err != nil || len(set) == 0 {
		return resp, err
	}
	resp.Body = newListing(&searchLister{
		s: s, trace: q.req.Trace, namer: newNamer(q.req.URL), filter: q.filter, remaining: set,
	})
	return resp, nil
}

// search sends UID SEARCH and returns the UIDs of the messages found. If the
// server supports ESEARCH (RFC 4731), the answer consists of ranges of UIDs.
func (s *session) search(text string) (imap.UIDSet, error) {
	p, err := parseProgram(text)
	if err != nil {
		return nil, err
	}
	verb := "UID SEARCH "
	if s.caps["ESEARCH"] || s.caps["IMAP4REV2"] {
		verb += "RETURN (ALL) "
	}
	words, waits := p.encode(s.nonSyncLimit())
	for i := range waits {
		waits[i] += len(verb)
	}
	s.clientConn.startSearch(verb+words, waits)
	data, err := s.client.UIDSearch(&imap.SearchCriteria{}, nil).Wait()
	if err != nil {
		return nil, s.classify("SEARCH", fetch.Denied, err)
	}
	s.MarkAnswered()
	set, _ := data.All.(imap.UIDSet)
	return set, nil
}

// nonSyncLimit returns the maximum length in bytes of a literal that the client
// may send without waiting for a continuation request (RFC 7888).
func (s *session) nonSyncLimit() int {
	switch {
	case s.caps["LITERAL+"]:
		return maxProgram
	case s.caps["LITERAL-"] || s.caps["IMAP4REV2"]:
		return 4096
	}
	return 0
}

// A searchLister lists the messages that a search found. It requests them in
// batches, because the length of a command is limited.
type searchLister struct {
	s      *session
	trace  *trace.Trace
	namer  namer
	filter func(*imap.Envelope) bool // nil selects all messages

	remaining imap.UIDSet
	batch     imap.UIDSet // messages in the current batch that were not yet listed
	current   *responseLister
	uidsOnly  bool // if true, only UIDs are listed, because the FETCH data was malformed
	listed    int  // entries with only a UID
}

// maxUIDs is the maximum number of entries with only a UID. The server sends
// nothing for them: one range in its answer can name billions of messages.
const maxUIDs = 1 << 18

// batchSize is the number of messages in one FETCH command.
const batchSize = 200

func (f *searchLister) next() (fetch.Entry, error) {
	for !f.uidsOnly {
		if f.current == nil {
			if len(f.remaining) == 0 {
				return fetch.Entry{}, io.EOF
			}
			f.batch, f.remaining = splitUIDs(f.remaining, batchSize)
			f.current = f.s.newSummaryLister(f.namer, f.batch, f.filter)
		}
		e, err := f.current.next()
		switch {
		case err == io.EOF:
			f.current = nil
			continue
		case err != nil && isUnreadable(err) && f.filter == nil:
			f.trace.Notef("server sent a malformed description of a message: listing only the UIDs of the remaining messages")
			f.uidsOnly, f.remaining = true, append(f.batch, f.remaining...)
			continue
		}
		if n, bad := strconv.ParseUint(e.Extra["uid"], 10, 32); err == nil && bad == nil {
			f.batch = removeUID(f.batch, imap.UID(n))
		}
		return e, err
	}
	return f.nextUID()
}

// nextUID returns the next message of the search as an entry that contains only
// its UID.
func (f *searchLister) nextUID() (e fetch.Entry, err error) {
	f.batch, f.remaining = splitUIDs(f.remaining, 1)
	if len(f.batch) == 0 {
		return e, io.EOF
	}
	if f.listed++; f.listed > maxUIDs {
		return e, fetch.TooLarge.Errorf("the search found more than %d messages that the server does not describe", maxUIDs)
	}
	name := f.batch.String()
	return fetch.Entry{Name: name, Kind: fetch.Document, Media: messageMedia, Size: -1,
		URL: f.namer.message(f.s.mailbox, uint32(f.batch[0].Start)), Extra: map[string]string{"uid": name}}, nil
}

func (f *searchLister) close() {
	if f.current != nil {
		f.current.close()
	}
}

// splitUIDs splits set into its first n UIDs and the remaining UIDs.
func splitUIDs(set imap.UIDSet, n uint32) (some, rest imap.UIDSet) {
	for i, r := range set {
		if r.Start == 0 || r.Stop == 0 {
			continue // the range has no valid UID
		}
		size := uint32(r.Stop - r.Start) // number of UIDs in r, minus one
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

// removeUID returns a copy of set without the UID n.
func removeUID(set imap.UIDSet, n imap.UID) (rest imap.UIDSet) {
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

// searchURL returns the URL of a search for the messages that contain all
// search words.
func searchURL(u uri.URI, search fetch.Search) (uri.URI, error) {
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
	_, err = parseLocator(found)
	return found, err
}
