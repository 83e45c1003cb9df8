package mirror

import (
	"encoding/json"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// A partExchange describes the HTTP exchanges that retrieved a partial body. It
// is stored with the partial body. A later visit retrieves the remaining bytes.
// It then writes the records of the first exchange, with the complete body.
type partExchange struct {
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

// maxResumptions is the maximum number of resumptions that a partExchange
// describes. Older resumptions are omitted.
const maxResumptions = 50

// parsePartExchange decodes the note of a partial body. It returns nil if the
// note does not suffice for a WARC record, for example because a run without
// WARC files stored the partial body.
func parsePartExchange(note string) *partExchange {
	var x partExchange
	if json.Unmarshal([]byte(note), &x) != nil || x.Started.IsZero() || len(x.Request) == 0 {
		return nil
	}
	status, _, err := http1.ParseHead[fetch.Field](&http1.Rules{Mode: http1.Stored}, string(x.Head))
	if err != nil || status.Code != 200 || http1.HasControl(strings.Join(x.Protocols, " ")+x.Cipher) {
		return nil
	}
	return &x
}

// add returns a copy of x with the exchange of v. If the response of v starts
// at the first byte of the body, the copy contains no earlier exchanges, and x
// may be nil.
func (x *partExchange) add(v *visit) (*partExchange, error) {
	sent, err := v.recorder.Sent.Reader()
	if err != nil {
		return nil, err
	}
	request, err := record.MaskSecrets(sent)
	head := v.recorder.Response.Head(v.resp)
	if v.resp.Offset == 0 {
		of := newCapture(v)
		return &partExchange{
			Started: of.Date, Peer: of.IP, Protocols: of.Protocols, Cipher: of.Cipher, Request: request, Head: head,
		}, err
	}
	next := *x
	next.Resumed = append(slices.Clone(x.Resumed), resumption{v.visitStart, request, head})
	next.Resumed = next.Resumed[max(len(next.Resumed)-maxResumptions, 0):]
	return &next, err
}

func (x *partExchange) encode() string {
	text, _ := json.Marshal(x) // never returns an error for these fields
	return string(text)
}

// capture returns the data that is common to all records of the exchange.
func (x *partExchange) capture(u uri.URI) *warc.Capture {
	return &warc.Capture{URL: u, Date: x.Started, IP: x.Peer, Protocols: x.Protocols, Cipher: x.Cipher}
}

// fields returns metadata fields that describe the resumptions: for each one
// its time, and the lines of its request and of its response head.
func (x *partExchange) fields() (fields fetch.Header) {
	for _, r := range x.Resumed {
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

// block returns the content of the response record of v: the head of the first
// response and the complete body.
func (x *partExchange) block(v *visit) (io.ReadSeeker, error) {
	body, err := v.body.Reader()
	return record.JoinBlock(x.Head, body), err
}
