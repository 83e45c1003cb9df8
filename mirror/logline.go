package mirror

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/netip"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// A logLine is the line of a visit in crawl.jsonl. It contains the Event and
// the values that only Recover uses.
type logLine struct {
	Event
	Kind     string          `json:"kind,omitempty"` // kind of a new object if it is not a document
	Key      string          `json:"key,omitempty"`  // key in the database if it is not the key of URL
	Priority int             `json:"prio,omitempty"` // priority of the item
	Meta     json.RawMessage `json:"meta,omitempty"` // encoded meta without the values in other members
}

// newLogLine returns the line of the visit v with the event e. The parameter k
// is the new capture, or nil.
func newLogLine(e Event, v *visit, k *frontier.Capture) *logLine {
	l := &logLine{Event: e, Priority: v.item.Priority}
	if k != nil && k.Kind != fetch.Document.String() {
		l.Kind = k.Kind
	}
	if v.item.Key != frontier.KeyOf(v.item.URL) {
		l.Key = hex.EncodeToString(v.item.Key[:])
	}
	m := v.meta
	if v.outcome == visitKept {
		m.Time = metaOf(v.item).Time // the mailboxes contain the time of a message
	} else {
		m.Time = time.Time{}
	}
	// A later process ignores these values.
	m.From, m.Peer, m.Found, m.Size, m.Run = "", netip.Addr{}, false, nil, 0
	if m != (meta{}) {
		l.Meta = m.encode()
	}
	return l
}

var errLogLine = errors.New("the line of crawl.jsonl is invalid")

// decodeLogLine decodes a line of crawl.jsonl. If the line does not describe a
// visit, the URL of the result is "".
func decodeLogLine(text []byte) (out archive.LogLine, err error) {
	var l logLine
	if err := json.Unmarshal(text, &l); err != nil {
		return out, err
	}
	state, ok := frontier.ParseState(l.State)
	if !ok || l.URL == "" {
		return out, nil
	}
	u, err := uri.Parse(l.URL)
	if err != nil {
		return out, err
	}
	var m meta
	if len(l.Meta) > 0 && json.Unmarshal(l.Meta, &m) != nil {
		return out, errLogLine
	}
	m.From = l.Via
	it := frontier.Item{
		Key: frontier.KeyOf(l.URL), URL: l.URL, Host: hostOf(u), Depth: l.Depth, Priority: l.Priority, Meta: m.encode(),
	}
	if l.Via != "" {
		it.Via = frontier.KeyOf(l.Via)
	}
	if l.Key != "" {
		if n, err := hex.Decode(it.Key[:], []byte(l.Key[:min(len(l.Key), 2*len(it.Key))])); err != nil || n != len(it.Key) {
			return out, errLogLine
		}
	}
	out.Item, out.State, out.Note, out.Run, out.Time, out.Seed = it, state, l.Note, l.Run, l.Time, l.Seed
	out.Capture, err = l.capture(it.Key)
	return out, err
}

// capture returns the capture that the line describes, or nil if the visit
// retrieved no new object. Lines of earlier versions of this program contain no
// digest.
func (l *logLine) capture(key frontier.Key) (*frontier.Capture, error) {
	if l.SHA256 == "" && l.Path == "" && l.WARC == "" {
		return nil, nil
	}
	k := &frontier.Capture{
		Key: key, URL: l.URL, Run: l.Run, Time: l.Time, Kind: l.Kind, Media: l.Media, Code: l.Code, Size: l.Size,
		Validator: l.Validator, Modified: l.Modified, Path: l.Path, File: l.WARC, Offset: l.Offset,
	}
	if k.Kind == "" {
		k.Kind = fetch.Document.String()
	}
	if l.SHA256 == "" {
		return k, nil
	}
	sum, err := hex.DecodeString(l.SHA256)
	if err != nil || copy(k.Digest[:], sum) != len(k.Digest) {
		return nil, errLogLine
	}
	return k, nil
}
