package clientflags

import (
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// TestEmptyTLSFlags checks that an empty value, such as that of an unset variable
// of a script, does not disable a check.
func TestEmptyTLSFlags(t *testing.T) {
	for _, name := range []string{"pinnedpubkey", "crlfile", "cacert", "capath"} {
		for _, name := range []string{name, "proxy-" + name} {
			var f Flags
			var set options.Set
			f.TLS.register(&set)
			f.proxy.register(&set)
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			set.AddTo(flags)
			if err := flags.Parse([]string{"--" + name, ""}); fetch.FaultOf(options.Error(err)) != fetch.Usage || err == nil {
				t.Errorf("--%s: got %v", name, err)
			}
			if err := flags.Parse([]string{"--" + name, "x"}); err != nil {
				t.Errorf("--%s x: got %v", name, err)
			}
		}
	}
}
