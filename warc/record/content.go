package record

import (
	"bytes"
	"cmp"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/warc"
)

// Content describes the object of an [Exchange] for its records.
type Content struct {
	// Object is the object as returned by Body of the fetch.Response. It is
	// required, except for http and https without OmitBody.
	Object Spool

	// Original is a record with the same payload, or nil. If it is not nil, the
	// first record is a revisit record, which does not contain the payload.
	// Digest is the payload digest of this record.
	Original *warc.Reference
	Digest   string

	// Sums has the digests of Object, or is nil. It is the result of the method
	// Sums of the Exchange.
	Sums *Sums

	// RequestBody is the body of an HTTP request that has one, or nil. The Trace
	// of a request reports only its head.
	RequestBody Spool

	Unchanged bool         // if true, the server reported that the object of Original is unchanged
	Truncated string       // reason why the object is incomplete, such as warc.TruncatedByTime, or ""
	Fields    fetch.Header // additional fields of the metadata record, except for http and https
}

// Records returns the records of the Exchange, beginning with the main record.
// It returns no records if a response over http or https did not come from the
// network. The records are valid until Free is called. If a message could not be
// stored, Records returns the same error as Err.
func (x *Exchange) Records(c Content) ([]*warc.Record, error) {
	switch err := x.Err(); {
	case err != nil:
		return nil, err
	case x.request == nil:
		return x.objectRecords(&c)
	case !x.response.received:
		return nil, nil
	case x.continues():
		return x.continuedRecords(&c)
	}
	sent, err := x.request.Reader()
	if err != nil {
		return nil, err
	}
	request, err := maskSecrets(sent)
	if err != nil {
		return nil, err
	}
	block, complete, err := x.response.block(x.resp, c.Object)
	if err != nil {
		return nil, err
	}
	if !complete {
		c.Truncated = cmp.Or(c.Truncated, warc.TruncatedByLength)
	} else if c.Sums != nil {
		block = c.Sums.with(block, c.Object.Size())
	}
	var trailer fetch.Header
	if c.Truncated == "" {
		trailer = x.response.trailerFields(x.resp)
	}
	return x.messageRecords(&c, x.response.head(x.resp), block, request, trailer)
}

// messageRecords returns the records of an HTTP response and its request. The
// parameter fields contains the fields of a metadata record, if any.
func (x *Exchange) messageRecords(c *Content, head []byte, block io.Reader, request []byte, fields fetch.Header) ([]*warc.Record, error) {
	var body *io.SectionReader
	if c.RequestBody != nil {
		var err error
		if body, err = c.RequestBody.Reader(); err != nil {
			return nil, err
		}
	}
	of := x.Capture()
	main := of.Response(block)
	main.Truncated = c.Truncated
	if c.Original != nil {
		main = c.revisit(of, bytes.NewReader(head))
	}
	group := []*warc.Record{main, of.Request(joinBlock(request, body))}
	if len(fields) > 0 {
		group = append(group, of.Metadata(warc.FieldsMedia, warc.FieldList(fields)))
	}
	return group, nil
}

// revisit returns a revisit record that refers to c.Original.
func (c *Content) revisit(of warc.Capture, head io.Reader) *warc.Record {
	if c.Unchanged {
		return of.NotModified(*c.Original, c.Digest, head)
	}
	return of.Revisit(*c.Original, c.Digest, head)
}

// objectRecords returns a record of the object, and a metadata record with the
// commands and replies of the connection. If no commands were recorded, the
// metadata record contains the steps of the plan. Its media type is FieldsMedia,
// because indexers skip this type.
func (x *Exchange) objectRecords(c *Content) ([]*warc.Record, error) {
	of := x.Capture()
	var main *warc.Record
	if c.Original != nil {
		main = c.revisit(of, nil)
	} else {
		object, err := c.Object.Reader()
		if err != nil {
			return nil, err
		}
		main = of.Resource(x.resourceMedia(), object)
		main.Truncated = c.Truncated
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	block, fields := bytes.Clone(x.conversation.Bytes()), c.Fields
	if len(block) == 0 && x.scheme.Plan != nil {
		steps, _ := x.scheme.Plan(&fetch.Request{URL: x.URL}) // without a plan, no steps are recorded
		for _, s := range steps {
			fields = append(fields, fetch.Field{Name: "plan", Value: s.String()})
		}
	}
	list, _ := io.ReadAll(warc.FieldList(fields)) // reads from memory
	group := []*warc.Record{main}
	if block = append(block, list...); len(block) > 0 {
		group = append(group, of.Metadata(warc.FieldsMedia, bytes.NewReader(block)))
	}
	return group, nil
}

// resourceMedia returns the media type for the record of an object. If the
// protocol has no media types, the media type depends on the file name. The
// media type of a listing is marked.
func (x *Exchange) resourceMedia() string {
	name := cmp.Or(x.resp.Media, media.ByName(x.URL.Path()), "application/octet-stream")
	return entries.MarkedMedia(name, x.resp.Kind)
}

// maskSecrets reads an HTTP request and masks the values of secret header
// fields, because other people may read the archive. It keeps the request line,
// whose path can contain a colon too.
func maskSecrets(sent io.Reader) ([]byte, error) {
	text, err := io.ReadAll(sent) // small, because this program wrote the request
	var out []byte
	for line := range bytes.Lines(text) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && len(out) > 0 && http1.IsSecretField(string(name)) {
			line = append(bytes.Clone(name), ": ***\r\n"...)
		}
		out = append(out, line...)
	}
	return out, err
}
