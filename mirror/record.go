package mirror

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// newExchange returns an Exchange for the request of v. It returns nil, which
// records nothing, if Options.WARC is nil.
func (c *crawl) newExchange(v *visit) *record.Exchange {
	if c.o.WARC == nil {
		return nil
	}
	x := record.NewExchange(v.url, v.scheme, c.recordOptions())
	x.Started = v.started
	return x
}

// recordOptions returns the options for recording an exchange.
func (c *crawl) recordOptions() record.Options {
	return record.Options{
		KeepTransferCoding: c.o.WARC != nil && c.o.WARC.KeepTransferCoding,
		NewSpool:           func() record.Spool { return c.archive.Spool("") },
	}
}

// records returns the WARC records of v, beginning with the main record. It
// returns no records if there is no exchange to record. The parameter duplicate
// is an earlier capture with the same content, or nil.
func (c *crawl) records(v *visit, duplicate *frontier.Capture) ([]*warc.Record, error) {
	messages := v.scheme.Mirror.Record == scheme.RecordWire // otherwise the records contain the object
	switch {
	case v.outcome == visitRetried, v.outcome == visitUntrusted,
		v.outcome == visitExcluded && !v.redirects() && v.content != contentErrorPage, v.err != nil && !v.requested:
		return nil, nil
	case v.err != nil && !(v.content == contentErrorPage && messages):
		return []*warc.Record{v.capture().Failure(v.err)}, nil
	case v.captured != nil:
		if duplicate == nil {
			return v.captured.Records(nil, "")
		}
		first := reference(duplicate)
		return v.captured.Records(&first, duplicate.Proof)
	case v.exchange == nil, v.content.isUnchanged() && !messages:
		return c.unchangedRecords(v, duplicate), nil
	}
	content := record.Content{Unchanged: v.content.isUnchanged(), Fields: viaFields(v)}
	if v.body != nil {
		content.Object = v.body
	}
	if duplicate != nil && v.err == nil {
		first := reference(duplicate)
		content.Original, content.Digest = &first, duplicate.Proof
	}
	v.exchange.Started = v.started
	group, err := v.exchange.Records(content)
	if err != nil {
		return nil, err
	}
	if at, err := uri.Parse(v.meta.ArticleName); err == nil && !messages { // the URL of the article in its newsgroup
		number := v.capture()
		number.URL = at
		fields := append(viaFields(v), fetch.Field{Name: "article", Value: v.item.URL})
		group = append(group, number.Metadata(warc.FieldsMedia, warc.FieldList(fields)))
	}
	return group, nil
}

// unchangedRecords returns a revisit record for an object that was not
// transferred because it is unchanged. It returns no record unless
// WARC.Unchanged is set.
func (c *crawl) unchangedRecords(v *visit, first *frontier.Capture) []*warc.Record {
	if !c.o.WARC.Unchanged || first == nil {
		return nil
	}
	return []*warc.Record{v.capture().NotModified(reference(first), first.Proof, nil)}
}

// viaFields returns a metadata field "via" with the URL of the page that links
// to v, if it is known.
func viaFields(v *visit) (fields fetch.Header) {
	if v.meta.From != "" {
		fields = append(fields, fetch.Field{Name: "via", Value: v.meta.From})
	}
	return fields
}

func reference(c *frontier.Capture) warc.Reference {
	u, _ := uri.Parse(c.URL) // never fails, because an earlier visit parsed the URL
	return warc.Reference{ID: c.ID, URL: u, Date: c.Time}
}

// capture returns the data that is common to all records of v.
func (v *visit) capture() warc.Capture {
	if v.exchange == nil {
		return record.NewCapture(v.url, v.started, v.resp)
	}
	v.exchange.Started = v.started
	return v.exchange.Capture()
}
