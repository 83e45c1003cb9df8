package mirror

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
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
	case v.err != nil && !(v.serverRefused && v.recorder.mode == scheme.RecordWire):
		return []*warc.Record{of.Failure(v.err)}, nil
	case v.recorder == nil, v.unchanged && v.recorder.mode != scheme.RecordWire:
		return c.unchangedRecords(of, v, duplicate), nil
	case v.recorder.mode == scheme.RecordWire:
		return exchangeRecords(of, v, duplicate)
	case duplicate != nil:
		return c.withConversation(of, v, of.Revisit(reference(duplicate), duplicate.Proof, nil)), nil
	}
	body, err := v.body.Reader()
	if err != nil {
		return nil, err
	}
	return c.withConversation(of, v, of.Resource(resourceMedia(v), body)), nil
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

// withConversation returns the main record and a metadata record. The metadata
// record contains the commands and replies of the connection. If there are
// none, it contains the steps of the plan. It also names the page with the
// link. Its media type is FieldsMedia, because indexers skip this type.
func (c *crawl) withConversation(of *warc.Capture, v *visit, first *warc.Record) []*warc.Record {
	var block bytes.Buffer
	fields := viaFields(v)
	if v.recorder.conversation.Len() > 0 {
		block.Write(v.recorder.conversation.Bytes())
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

// viaFields returns the metadata field via, which contains the URL of the page
// with the link to v.
func viaFields(v *visit) (fields fetch.Header) {
	if v.meta.From != "" {
		fields = append(fields, fetch.Field{Name: "via", Value: v.meta.From})
	}
	return fields
}

// resourceMedia returns the media type of an object. If the protocol has no
// media types, the media type depends on the file name.
func resourceMedia(v *visit) string {
	if v.resp.Media != "" {
		return v.resp.Media
	}
	return cmp.Or(media.ByName(v.url.Path()), "application/octet-stream")
}

// exchangeRecords returns the records of an HTTP response and its request, and
// a metadata record for trailer fields and resumptions.
func exchangeRecords(of *warc.Capture, v *visit, duplicate *frontier.Capture) ([]*warc.Record, error) {
	if !v.recorder.response.received { // there was no network exchange
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

// An exchange is the content of the records of an HTTP exchange.
type exchange struct {
	head     []byte        // head of the response as it was received
	block    io.ReadSeeker // block of the response record
	complete bool          // if false, the body in block is incomplete
	request  []byte        // without secrets
	fields   fetch.Header  // fields of a metadata record, if any
}

// recordedExchange returns the exchange of v. If v resumed the body, the
// exchange is the one that started the body.
func recordedExchange(v *visit) (x exchange, err error) {
	if first := v.resumed; first != nil && v.resp.Offset > 0 {
		block, err := first.block(v)
		return exchange{first.Head, block, true, first.Request, first.fields()}, err
	}
	sent, err := v.recorder.sent.Reader()
	if err != nil {
		return x, err
	}
	if x.request, err = maskSecrets(sent); err != nil {
		return x, err
	}
	x.head, x.fields = v.recorder.response.head(v), trailerFields(v)
	x.block, x.complete, err = v.recorder.response.block(v)
	return x, err
}

// trailerFields returns a metadata field trailer for each trailer field of an
// HTTP response. A recorded body without its transfer coding has no trailer.
func trailerFields(v *visit) (fields fetch.Header) {
	if r := &v.recorder.response; v.resp.Trailer == nil || r.keepsCoding() {
		return nil
	}
	for _, f := range v.resp.Trailer() {
		fields = append(fields, fetch.Field{Name: "trailer", Value: f.Name + ": " + f.Value})
	}
	return fields
}

// maskSecrets reads an HTTP request and masks the values of secret header
// fields, because other people may read the archive.
func maskSecrets(sent io.Reader) ([]byte, error) {
	text, err := io.ReadAll(sent) // small, because this program wrote the request
	var out []byte
	for line := range bytes.Lines(text) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && http1.IsSecretField(string(name)) {
			line = append(bytes.Clone(name), ": ***\r\n"...)
		}
		out = append(out, line...)
	}
	return out, err
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
	c := &warc.Capture{URL: v.url, Date: v.started}
	if v.resp == nil {
		return c
	}
	c.IP = v.resp.Peer
	proto := strings.ToLower(v.resp.Proto)
	if proto == "" {
		proto = strings.TrimSuffix(v.url.Scheme(), "s")
	}
	c.Protocols = []string{proto}
	if t := v.resp.TLS; t != nil {
		c.Protocols = append(c.Protocols, strings.ToLower(strings.ReplaceAll(tls.VersionName(t.Version), " ", "/")))
		c.Cipher = tls.CipherSuiteName(t.CipherSuite)
	}
	return c
}
