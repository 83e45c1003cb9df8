package sessions

import (
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
)

func TestStartsTLS(t *testing.T) {
	const (
		usual    = scheme.TLSDefault
		wanted   = scheme.TLSWanted
		required = scheme.TLSRequired
		never    = scheme.TLSNever
	)
	for _, c := range []struct {
		name        string
		mode, usual scheme.TLSMode
		offered     bool
		want        bool
	}{
		{"default, and the scheme wants TLS", usual, wanted, true, true},
		{"default, and the server does not offer TLS", usual, wanted, false, false},
		{"default, and the scheme does not use TLS", usual, never, true, false},
		{"wanted", wanted, never, true, true},
		{"wanted, but not offered", wanted, never, false, false},
		{"required", required, never, true, true},
		{"required, but not offered", required, wanted, false, true},
		{"never", never, wanted, true, false},
	} {
		if got := StartsTLS(c.mode, c.usual, c.offered); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
