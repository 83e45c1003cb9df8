package record

import (
	"bytes"
	"crypto/tls"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// An Exchange stores a request and its response until their WARC records are
// written. For http and https, it stores all bytes. For other schemes, it stores
// the commands and replies, and the caller stores the object.
//
// An Exchange must be created with [NewExchange] and freed with Free. Only the
// functions of its Trace may be called concurrently. A nil Exchange records
// nothing; its methods Trace, Respond, OmitBody, Continue, Note, Err and Free do
// nothing.
type Exchange struct {
	URL     uri.URI   // requested URL
	Started time.Time // time at which the request was sent

	scheme   fetch.Scheme
	resp     *fetch.Response // nil if there is no response
	request  Spool           // the request, or nil if the messages are not recorded
	response response
	earlier  *earlierExchange // exchange that started the body, or nil

	mu            sync.Mutex // protects the following fields; each direction runs in its own goroutine
	conversation  bytes.Buffer
	replyExpected bool // with RecordReplies, the next line from the server is a reply
	full          bool
	err           error // error of storing a message
}

// NewExchange returns an Exchange for a request for u, which starts now. The
// parameter s is the scheme of u.
func NewExchange(u uri.URI, s fetch.Scheme, o Options) *Exchange {
	x := &Exchange{URL: u, Started: time.Now().UTC().Truncate(time.Microsecond), scheme: s}
	if recordsMessages(&s) {
		x.request, x.response = o.Spool(), response{keepCoding: o.KeepTransferCoding, undecoded: o.Undecoded, body: o.Spool()}
	}
	return x
}

// recordsMessages reports whether the records of a scheme contain its messages,
// as for http and https. The records of other schemes contain the object.
func recordsMessages(s *fetch.Scheme) bool { return s.Mirror.Record == scheme.RecordWire }

// Trace returns a copy of t that also records the events of the request. The
// parameter t may be nil. The request must have this Trace.
func (x *Exchange) Trace(t *trace.Trace) *trace.Trace {
	var joined trace.Trace
	if t != nil {
		joined = *t
	}
	switch {
	case x == nil || x.scheme.Mirror.Record == scheme.RecordPlan:
	case x.request == nil:
		joined.Messages = false
		joined.Sent = both(joined.Sent, func(p []byte) { x.addLines("sent", p) })
		joined.Received = both(joined.Received, func(p []byte) { x.addLines("received", p) })
	default:
		joined.Messages = joined.Messages || joined.Sent == nil && joined.Received == nil
		joined.Sent = both(joined.Sent, func(p []byte) { _, err := x.request.Write(p); x.keepError(err) })
		joined.Received = both(joined.Received, func(p []byte) { x.keepError(x.response.write(p)) })
		joined.Restart = func() { t.Restarted(); x.request.Free(); x.response.reset() }
	}
	return &joined
}

// both returns a function that calls first, unless it is nil, and then second.
func both(first, second func(p []byte)) func(p []byte) {
	if first == nil {
		return second
	}
	return func(p []byte) { first(p); second(p) }
}

func (x *Exchange) keepError(err error) {
	if err != nil {
		x.mu.Lock()
		x.err = err
		x.mu.Unlock()
	}
}

// maxConversation is the maximum size of the recorded commands and replies, in
// bytes.
const maxConversation = 64 << 10

// addLines appends lines to the recorded conversation. Each line becomes a
// header field with the name "sent" or "received".
func (x *Exchange) addLines(field string, p []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	reply, mode := field == "received", x.scheme.Mirror.Record
	if reply && (mode == scheme.RecordSent || mode == scheme.RecordReplies && !x.replyExpected) || x.full {
		return
	}
	x.replyExpected = !reply
	for line := range bytes.Lines(p) {
		if x.conversation.Len()+len(line) > maxConversation {
			x.full = true
			return
		}
		x.conversation.WriteString(field + ": ")
		x.conversation.Write(fieldValue(line))
		x.conversation.WriteString("\r\n")
		if reply && mode == scheme.RecordReplies {
			return
		}
	}
}

// fieldValue converts a line to the value of a header field. It removes the
// line break and replaces CR and NUL in the line with spaces.
func fieldValue(line []byte) []byte {
	line = bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte{'\r'}, []byte{' '})
	return bytes.ReplaceAll(line, []byte{0}, []byte{' '})
}

// Respond adds the response to the Exchange. It must be called before the body
// of resp is read.
func (x *Exchange) Respond(resp *fetch.Response) {
	if x == nil {
		return
	}
	if x.resp = resp; resp.Offset == 0 {
		x.earlier = nil
	}
}

// OmitBody discards the recorded body of an HTTP response if Body of the
// fetch.Response returns the same bytes. The caller then stores the body and
// passes it to Records, so that a large body is stored only once. OmitBody must
// be called after Respond and before the body is read.
func (x *Exchange) OmitBody() {
	if x != nil && x.request != nil {
		x.response.omitBody(x.resp)
	}
}

// Err returns an error that occurred while storing a message.
func (x *Exchange) Err() error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// Free removes the stored messages. No record of the Exchange can be written or
// read afterwards.
func (x *Exchange) Free() {
	if x != nil && x.request != nil {
		x.request.Free()
		x.response.reset()
	}
}

// Capture returns the data that is common to all records of the Exchange. If the
// Exchange continues a body, the data describes the exchange that started it.
func (x *Exchange) Capture() warc.Capture {
	if x.continues() {
		return x.earlier.capture(x.URL)
	}
	return NewCapture(x.URL, x.Started, x.resp)
}

// NewCapture returns the data that is common to all records of an exchange. The
// parameter resp is nil if there is no response.
func NewCapture(u uri.URI, started time.Time, resp *fetch.Response) warc.Capture {
	c := warc.Capture{URL: u, Date: started}
	if resp == nil {
		return c
	}
	c.IP = resp.Peer
	proto := strings.ToLower(resp.Proto)
	if proto == "" {
		proto = strings.TrimSuffix(u.Scheme(), "s")
	}
	switch proto { // the names in TLS, which other crawlers write
	case "http/2", "http/2.0":
		proto = "h2"
	case "http/3":
		proto = "h3"
	}
	c.Protocols = []string{proto}
	if t := resp.TLS; t != nil {
		c.Protocols = append(c.Protocols, strings.ToLower(strings.ReplaceAll(tls.VersionName(t.Version), " ", "/")))
		c.Cipher = tls.CipherSuiteName(t.CipherSuite)
	}
	return c
}
