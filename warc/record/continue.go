package record

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An earlierExchange describes the HTTP exchange that started a body, and the
// exchanges that continued it. The caller stores its JSON form with the partial
// body. The last exchange writes the records of the first one, with the
// complete body.
type earlierExchange struct {
	Started   time.Time    `json:"started"`
	Peer      netip.Addr   `json:"peer,omitzero"`
	Protocols []string     `json:"protocols"`
	Cipher    string       `json:"cipher,omitempty"`
	Request   []byte       `json:"request"` // without secrets
	Head      []byte       `json:"head"`    // head of the response
	Resumed   []resumption `json:"resumed,omitempty"`
}

// A resumption is an exchange that continued a partial body.
type resumption struct {
	Started time.Time `json:"started"`
	Request []byte    `json:"request"` // without secrets
	Head    []byte    `json:"head"`    // head of the response
}

// maxResumptions is the maximum number of resumptions that an earlierExchange
// describes. Older resumptions are omitted.
const maxResumptions = 50

// Continue informs the Exchange that its request is for the remaining bytes of a
// partial body. The text is the result of Note of the Exchange that received the
// earlier bytes. Records then returns the records of the first exchange, with a
// metadata record that describes the later ones.
//
// Continue must be called before the request is sent. It returns false if no
// record can be written for the complete body, for example because the earlier
// bytes were not recorded. The caller must then request the complete object.
// For schemes other than http and https, Continue does nothing and returns true.
func (x *Exchange) Continue(text string) bool {
	if x == nil || x.request == nil {
		return true
	}
	var e earlierExchange
	if json.Unmarshal([]byte(text), &e) != nil || e.Started.IsZero() || len(e.Request) == 0 {
		return false
	}
	status, _, err := http1.ParseHead[fetch.Field](&http1.Rules{Mode: http1.Stored}, string(e.Head))
	if err != nil || status.Code != 200 || http1.HasControl(strings.Join(e.Protocols, " ")+e.Cipher) {
		return false
	}
	x.earlier = &e
	return true
}

// Note returns a text that describes the Exchange, for a later call of Continue.
// The caller stores the text with the received bytes. Note must be called after
// Respond. It returns "" for schemes other than http and https.
func (x *Exchange) Note() (string, error) {
	if x == nil || x.request == nil {
		return "", nil
	}
	sent, err := x.request.Reader()
	if err != nil {
		return "", err
	}
	request, err := maskSecrets(sent)
	if err != nil {
		return "", err
	}
	head := x.response.head(x.resp)
	if x.continues() {
		e := x.earlier
		e.Resumed = append(e.Resumed, resumption{x.Started, request, head})
		e.Resumed = slices.Clone(e.Resumed[max(len(e.Resumed)-maxResumptions, 0):])
	} else {
		of := x.Capture()
		x.earlier = &earlierExchange{
			Started: of.Date, Peer: of.IP, Protocols: of.Protocols, Cipher: of.Cipher, Request: request, Head: head,
		}
	}
	text, err := json.Marshal(x.earlier)
	return string(text), err
}

// continues reports whether the response continues the body of an earlier
// exchange.
func (x *Exchange) continues() bool { return x.earlier != nil && x.resp != nil && x.resp.Offset > 0 }

// continuedRecords returns the records of the exchange that started the body,
// with the complete body.
func (x *Exchange) continuedRecords(c *Content) ([]*warc.Record, error) {
	body, err := c.Object.Reader()
	if err != nil {
		return nil, err
	}
	return x.messageRecords(c, x.earlier.Head, joinBlock(x.earlier.Head, body), x.earlier.Request, x.earlier.fields())
}

// capture returns the data that is common to all records of the exchange.
func (e *earlierExchange) capture(u uri.URI) warc.Capture {
	return warc.Capture{URL: u, Date: e.Started, IP: e.Peer, Protocols: e.Protocols, Cipher: e.Cipher}
}

// fields returns metadata fields that describe the resumptions: for each one
// its time, and the lines of its request and of its response head.
func (e *earlierExchange) fields() (fields fetch.Header) {
	for _, r := range e.Resumed {
		fields = append(fields, fetch.Field{Name: "resumed", Value: r.Started.Format(time.RFC3339Nano)})
		fields = appendLines(fields, "sent", r.Request)
		fields = appendLines(fields, "received", r.Head)
	}
	return fields
}

// appendLines appends a field for each line of text that is not blank.
func appendLines(fields fetch.Header, name string, text []byte) fetch.Header {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			fields = append(fields, fetch.Field{Name: name, Value: line})
		}
	}
	return fields
}
