package mail

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/mail"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// parseMailto returns the addresses in the path and in the "to" fields of a
// mailto URL (RFC 6068 2). It ignores all other fields, because they matter
// only when a message is sent.
func parseMailto(u uri.URI) (addressSet, error) {
	if u.HasAuthority() {
		return nil, fetch.BadURL.Errorf("mailto URLs must not have a host")
	}
	lists := []string{u.Path()}
	query, _ := u.Query()
	for field := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(field, "="); strings.EqualFold(name, "to") {
			lists = append(lists, value)
		}
	}
	var all addressSet
	for _, list := range lists {
		for text := range strings.SplitSeq(list, ",") {
			if text == "" {
				continue
			}
			address, err := parseAddress(text)
			if err != nil {
				return nil, err
			}
			all = append(all, address)
		}
	}
	if len(all) == 0 {
		return nil, fetch.BadURL.Errorf("mailto URL has no address")
	}
	if len(all) > maxAddresses {
		return nil, fetch.BadURL.Errorf("mailto URL has %d addresses, more than the limit of %d", len(all), maxAddresses)
	}
	return all, nil
}

const maxAddresses = 20

// parseAddress decodes and validates a mail address (addr-spec in RFC 5322
// 3.4.1).
func parseAddress(text string) (string, error) {
	text, err := uri.Unescape(text)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Name != "" || strings.ContainsAny(text, "<>\r\n\x00") || len(text) > maxID {
		return "", fetch.BadURL.Errorf("%q is not a mail address", text)
	}
	return strings.ToLower(a.Address), nil
}

func (o Options) mailtoPlan(req *fetch.Request) ([]scheme.Step, error) {
	all, err := parseMailto(req.URL)
	if err != nil {
		return nil, err
	}
	return []scheme.Step{{Verb: "FIND From, To, Cc", Arg: strings.Join(all, ", ")}}, nil
}

// mailto returns the driver for mailto URLs. A mailto URL names an address and
// not an object that can be retrieved (RFC 1738 3.5). The driver therefore
// returns the stored messages from or to the address.
func (o Options) mailto(env fetch.Env) fetch.DriverFunc {
	stores := o.newStoreSet(env)
	return func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		wanted, err := parseMailto(req.URL)
		if err != nil {
			return nil, err
		}
		if len(o.Stores) == 0 {
			err := fetch.Unsupported.Errorf("a mailto URL lists the messages of a mail store, and no mail store is configured")
			return nil, needOption(err, OverrideStores, "")
		}
		stores, err := stores.open()
		if err != nil {
			return nil, err
		}
		resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1}
		if o.Mbox {
			resp.Kind, resp.Media = fetch.Document, MboxMedia
		}
		if req.Op == fetch.Stat {
			resp.Body = http.NoBody
			return resp, nil
		}
		ctx, cancel := context.WithCancelCause(ctx)
		messages := searchStores(ctx, req, stores, wanted)
		if o.Mbox {
			resp.Body, err = newSequenceReader(ctx, cancel, mboxChunks(messages))
		} else {
			resp.Body, err = newSequenceReader(ctx, cancel, entryLines(messages))
		}
		return resp, err
	}
}

// searchStores iterates over the messages from or to the wanted addresses in
// all stores. If several stores contain a message with the same Message-ID, it
// is returned only once.
func searchStores(
	ctx context.Context, req *fetch.Request, stores []store, wanted addressSet,
) iter.Seq2[storedMessage, error] {
	return func(yield func(storedMessage, error) bool) {
		seen := idSet{}
		for _, s := range stores {
			for m, err := range s.matching(ctx, req, wanted) {
				if err == nil && !seen.add(m.Extra["message_id"]) {
					continue
				}
				if !yield(withMidURL(m), err) || err != nil {
					return
				}
			}
		}
	}
}

// An idSet holds at most maxSeen different Message-IDs.
type idSet map[string]bool

const maxSeen = 100_000

// add adds id to the set. It returns false if the set already contains id. If
// the set is full, add does not store id and returns true.
func (seen idSet) add(id string) bool {
	if seen[id] {
		return false
	}
	if id != "" && len(seen) < maxSeen {
		seen[id] = true
	}
	return true
}

// withMidURL replaces the URL of a message by its mid URL. The replaced URL
// becomes the extra field "location". A message without a valid Message-ID
// keeps its URL.
func withMidURL(m storedMessage) storedMessage {
	if m.Extra == nil {
		return m // searchStores yields an empty message with an error
	}
	id := m.Extra["message_id"]
	m.Name = cmp.Or(m.Extra["subject"], id, m.Name)
	text := uri.Escape(id, uri.Segment)
	if _, err := parseID(text); err == nil {
		if !m.URL.IsZero() {
			m.Extra["location"] = m.URL.String()
		}
		m.URL, _ = uri.Parse("mid:" + text) // id is already escaped as a path segment
	}
	if m.URL.IsZero() {
		m.Kind = fetch.Info
	}
	return m
}

func entryLines(messages iter.Seq2[storedMessage, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var line []byte
		for m, err := range messages {
			if err == nil {
				line, err = entries.Append(line[:0], m.Entry)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}
