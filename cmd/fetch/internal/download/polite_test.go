package download

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/wrap"
	"github.com/spf13/pflag"
)

// TestPoliteOptions checks the limits for requests to a host.
func TestPoliteOptions(t *testing.T) {
	for _, c := range []struct {
		flags string
		want  wrap.PoliteOptions // the zero value means no limits
	}{
		{"", wrap.PoliteOptions{}},
		{"--per-host 3", wrap.PoliteOptions{}},
		{"--delay 2", wrap.PoliteOptions{PerHost: 6, Delay: 2 * time.Second}},
		{"-Z", wrap.PoliteOptions{PerHost: 6, MaxPerHost: 50}},
		{"-Z --parallel-max 20", wrap.PoliteOptions{PerHost: 6, MaxPerHost: 20}},
		{"-Z --per-host 6", wrap.PoliteOptions{PerHost: 6}},
		{"-Z --per-host 1", wrap.PoliteOptions{PerHost: 1}},
		{"-Z --retry 0", wrap.PoliteOptions{PerHost: 6}},
		{"-Z --segments 4", wrap.PoliteOptions{PerHost: 6}},
	} {
		var f objectflags.Flags
		var set options.Set
		f.Register(&set)
		all := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.AddTo(all)
		if err := all.Parse(strings.Fields(c.flags)); err != nil {
			t.Fatal(err)
		}
		var got wrap.PoliteOptions
		if o := politeOptions(&f); o != nil {
			got = *o
		}
		if got.PerHost != c.want.PerHost || got.MaxPerHost != c.want.MaxPerHost || got.Delay != c.want.Delay {
			t.Errorf("%s: %d to %d connections, a request in %v", c.flags, got.PerHost, got.MaxPerHost, got.Delay)
		}
	}
}
