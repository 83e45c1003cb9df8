package mirror

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestSharedSettings checks which settings of a worker may differ from those of
// its crawl.
func TestSharedSettings(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Options)
		equal  bool
	}{
		{"limit of files, which may have changed since", func(o *Options) { o.Limits.Files = 5 }, true},
		{"limit of bytes", func(o *Options) { o.Limits.Bytes = 5 }, true},
		{"limit of time", func(o *Options) { o.Limits.Time = time.Second }, true},
		{"WARC settings of the worker", func(o *Options) { o.WARC = &WARC{} }, true},
		{"depth", func(o *Options) { o.Scope.Depth = 5 }, false},
		{"scope", func(o *Options) { o.Scope.Reach = Any }, false},
	} {
		crawl, own := Options{}, Options{}
		c.change(&own)
		err := sharedSettings(&own).checkEqual(sharedSettings(&crawl))
		if (err == nil) != c.equal || err != nil && fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
