package mirror

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// records returns the records of v, the main one first. There are none if nothing
// was recorded of the exchange.
// Twin is an earlier capture of the same bytes, or nil.
func (c *crawl) records(v *visit, twin *frontier.Capture) ([]*warc.Record, error) {
	of := newCapture(v)
	switch {
	case v.state == frontier.Pending && !v.parked, v.state == frontier.Excluded && !v.redirects(), v.err != nil && !v.requested:
		return nil, nil
	case v.err != nil && !(v.serverRefused && v.recorder.mode == fetch.RecordWire):
		return []*warc.Record{of.Failure(v.err)}, nil
	case v.recorder == nil, v.unchanged && v.recorder.mode != fetch.RecordWire:
		return c.unchangedRecords(of, v, twin), nil
	case v.recorder.mode == fetch.RecordWire:
		return exchangeRecords(of, v, twin)
	case twin != nil:
		return c.withConversation(of, v, of.Revisit(reference(twin), twin.Proof, nil)), nil
	}
	body, err := v.body.Reader()
	if err != nil {
		return nil, err
	}
	return c.withConversation(of, v, of.Resource(resourceMedia(v), body)), nil
}

// asItWas is a record only where that is wanted: no protocol but http has an
// answer to repeat.
func (c *crawl) unchangedRecords(of *warc.Capture, v *visit, first *frontier.Capture) []*warc.Record {
	if !c.o.WARC.Unchanged || first == nil {
		return nil
	}
	return []*warc.Record{of.Unmodified(reference(first), first.Proof, nil)}
}

// beside adds the conversation to the record of what it brought.
func (c *crawl) withConversation(of *warc.Capture, v *visit, first *warc.Record) []*warc.Record {
	var block bytes.Buffer
	kind := "text/x-" + cmp.Or(v.scheme.Mirror.Talk, v.scheme.Name) + "-conversation"
	if v.recorder.conversation.Len() > 0 {
		block.Write(v.recorder.conversation.Bytes())
	} else {
		kind = warc.FieldsMedia
		var fields fetch.Header
		if steps, err := c.o.Client.Plan(&fetch.Request{URL: v.url}); err == nil {
			for _, s := range steps {
				fields = append(fields, fetch.Field{Name: "plan", Value: s.String()})
			}
		}
		fields = append(fields, viaFields(v)...)
		io.Copy(&block, warc.FieldList(fields)) // into memory
	}
	records := []*warc.Record{first}
	if block.Len() > 0 {
		records = append(records, of.Metadata(kind, bytes.NewReader(block.Bytes())))
	}
	if at, err := uri.Parse(v.meta.ArticleName); err == nil { // what a group calls an article
		number := *of
		number.URL = at
		records = append(records, number.Metadata(warc.FieldsMedia, warc.FieldList(append(viaFields(v), fetch.Field{Name: "article", Value: v.item.URL}))))
	}
	return records
}

// origin says how an object came to be visited.
func viaFields(v *visit) (fields fetch.Header) {
	if v.meta.From != "" {
		fields = append(fields, fetch.Field{Name: "via", Value: v.meta.From})
	}
	return fields
}

// resourceMedia returns the media type of an object, guessed where the protocol has
// none.
func resourceMedia(v *visit) string {
	if v.resp.Media != "" {
		return v.resp.Media
	}
	return cmp.Or(media.ByName(v.url.Path()), "application/octet-stream")
}

// exchange returns the records of a response and its request, byte for byte.
func exchangeRecords(of *warc.Capture, v *visit, twin *frontier.Capture) ([]*warc.Record, error) {
	if v.recorder.received.Size() == 0 { // it came from no network: there is nothing to record
		return nil, nil
	}
	sent, err := v.recorder.sent.Reader()
	if err != nil {
		return nil, err
	}
	got, err := v.recorder.received.Reader()
	if err != nil {
		return nil, err
	}
	answer := of.Response(got)
	if v.err == nil && twin != nil {
		head, err := warc.HTTPHead(got)
		if err != nil {
			return nil, err
		}
		answer = of.Revisit(reference(twin), twin.Proof, bytes.NewReader(head))
		if v.unchanged {
			answer = of.Unmodified(reference(twin), twin.Proof, bytes.NewReader(head))
		}
	}
	request, err := maskSecrets(sent)
	if err != nil {
		return nil, err
	}
	return []*warc.Record{answer, of.Request(bytes.NewReader(request))}, nil
}

// withoutSecrets returns a request with the values of secret fields masked: archives
// are passed on, logins and cookies are not.
func maskSecrets(sent io.Reader) ([]byte, error) {
	text, err := io.ReadAll(sent) // ours: a URL and our fields, which are bounded
	var out []byte
	for line := range bytes.Lines(text) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && fetch.SecretHeader(string(name)) {
			line = append(bytes.Clone(name), ": ***\r\n"...)
		}
		out = append(out, line...)
	}
	return out, err
}

func reference(c *frontier.Capture) warc.Reference {
	u, _ := uri.Parse(c.URL) // of a visit, which parsed it
	return warc.Reference{ID: c.ID, URL: u, Date: c.Time}
}

// captureOf returns what the records of v have in common.
func newCapture(v *visit) *warc.Capture {
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
