package mirror

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// records returns the WARC records of v, beginning with the main record. It
// returns no records if there is no exchange to record. The parameter duplicate
// is an earlier capture with the same content, or nil.
func (c *crawl) records(v *visit, duplicate *frontier.Capture) ([]*warc.Record, error) {
	of := newCapture(v)
	switch {
	case v.state == frontier.Pending && !v.unreached, v.state == frontier.Excluded && !v.redirects() && !v.serverRefused,
		v.err != nil && !v.requested:
		return nil, nil
	case v.err != nil && !(v.serverRefused && v.recorder.Mode == scheme.RecordWire):
		return []*warc.Record{of.Failure(v.err)}, nil
	case v.recorder == nil, v.unchanged && v.recorder.Mode != scheme.RecordWire:
		return c.unchangedRecords(of, v, duplicate), nil
	case v.recorder.Mode == scheme.RecordWire:
		return exchangeRecords(of, v, duplicate)
	case duplicate != nil:
		return c.withConversation(of, v, of.Revisit(reference(duplicate), duplicate.Proof, nil)), nil
	}
	body, err := v.body.Reader()
	if err != nil {
		return nil, err
	}
	return c.withConversation(of, v, of.Resource(record.ResourceMedia(v.url, v.resp), body)), nil
}

// unchangedRecords returns a revisit record for an object that was not
// transferred because it is unchanged. It returns no record unless
// WARC.Unchanged is set.
func (c *crawl) unchangedRecords(of *warc.Capture, v *visit, first *frontier.Capture) []*warc.Record {
	if !c.o.WARC.Unchanged || first == nil {
		return nil
	}
	return []*warc.Record{of.NotModified(reference(first), first.Proof, nil)}
}

// withConversation returns the main record, followed by a metadata record with
// the commands and replies of the connection. If there are none, the metadata
// record contains the steps of the plan. It also contains the URL of the page
// that links to v. Its media type is FieldsMedia, because indexers skip this
// type.
func (c *crawl) withConversation(of *warc.Capture, v *visit, first *warc.Record) []*warc.Record {
	var block bytes.Buffer
	fields := viaFields(v)
	if lines := v.recorder.Conversation(); len(lines) > 0 {
		block.Write(lines)
	} else if steps, err := c.o.Client.Plan(&fetch.Request{URL: v.url}); err == nil {
		for _, s := range steps {
			fields = append(fields, fetch.Field{Name: "plan", Value: s.String()})
		}
	}
	io.Copy(&block, warc.FieldList(fields)) // never fails, because block is a buffer
	records := []*warc.Record{first}
	if block.Len() > 0 {
		records = append(records, of.Metadata(warc.FieldsMedia, bytes.NewReader(block.Bytes())))
	}
	if at, err := uri.Parse(v.meta.ArticleName); err == nil { // the URL of the article in its newsgroup
		number := *of
		number.URL = at
		fields := append(viaFields(v), fetch.Field{Name: "article", Value: v.item.URL})
		records = append(records, number.Metadata(warc.FieldsMedia, warc.FieldList(fields)))
	}
	return records
}

// viaFields returns a metadata field "via" with the URL of the page that links
// to v, if it is known.
func viaFields(v *visit) (fields fetch.Header) {
	if v.meta.From != "" {
		fields = append(fields, fetch.Field{Name: "via", Value: v.meta.From})
	}
	return fields
}

// exchangeRecords returns the records of an HTTP response and its request, and
// a metadata record for trailer fields and resumptions.
func exchangeRecords(of *warc.Capture, v *visit, duplicate *frontier.Capture) ([]*warc.Record, error) {
	if !v.recorder.Response.Received() { // there was no network exchange
		return nil, nil
	}
	x, err := recordedExchange(v)
	if err != nil {
		return nil, err
	}
	answer := of.Response(x.block)
	if !x.complete {
		answer.Truncated = warc.TruncatedByLength // a redirect with a body that exceeds Limits.FileSize
	}
	if v.err == nil && duplicate != nil {
		answer = of.Revisit(reference(duplicate), duplicate.Proof, bytes.NewReader(x.head))
		if v.unchanged {
			answer = of.NotModified(reference(duplicate), duplicate.Proof, bytes.NewReader(x.head))
		}
	}
	group := []*warc.Record{answer, of.Request(bytes.NewReader(x.request))}
	if len(x.fields) > 0 {
		group = append(group, of.Metadata(warc.FieldsMedia, warc.FieldList(x.fields)))
	}
	return group, nil
}

// A webExchange contains the data for the WARC records of an HTTP exchange.
type webExchange struct {
	head     []byte        // head of the response as it was received
	block    io.ReadSeeker // block of the response record
	complete bool          // if false, the body in block is incomplete
	request  []byte        // without secrets
	fields   fetch.Header  // fields of a metadata record, if any
}

// recordedExchange returns the exchange of v. If v resumed the body, it returns
// the exchange that started the body, with the complete body.
func recordedExchange(v *visit) (x webExchange, err error) {
	if first := v.resumed; first != nil && v.resp.Offset > 0 {
		block, err := first.block(v)
		return webExchange{first.Head, block, true, first.Request, first.fields()}, err
	}
	sent, err := v.recorder.Sent.Reader()
	if err != nil {
		return x, err
	}
	if x.request, err = record.MaskSecrets(sent); err != nil {
		return x, err
	}
	response := &v.recorder.Response
	x.head, x.fields = response.Head(v.resp), response.TrailerFields(v.resp)
	var body record.Spool
	if v.body != nil {
		body = v.body
	}
	x.block, x.complete, err = response.Block(v.resp, body)
	return x, err
}

func reference(c *frontier.Capture) warc.Reference {
	u, _ := uri.Parse(c.URL) // never fails, because an earlier visit parsed the URL
	return warc.Reference{ID: c.ID, URL: u, Date: c.Time}
}

// newCapture returns the data that is common to all records of v.
func newCapture(v *visit) *warc.Capture {
	if v.resumed != nil && v.resp.Offset > 0 {
		return v.resumed.capture(v.url)
	}
	c := record.NewCapture(v.url, v.started, v.resp)
	return &c
}
