package tlsfiles

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestUnverifiedStatus checks that a required check is never left out silently.
func TestUnverifiedStatus(t *testing.T) {
	for _, c := range []struct {
		s    Settings
		want fetch.Fault
	}{
		{Settings{Status: true}, 0},
		{Settings{Insecure: true}, 0},
		{Settings{Status: true, Insecure: true}, fetch.Usage},
	} {
		config, err := c.s.Config(t.Context(), Console{})
		if fetch.FaultOf(err) != c.want {
			t.Errorf("%+v: %v, want %v", c.s, err, c.want)
		}
		if err == nil && c.s.Status && config.VerifyConnection == nil {
			t.Error("the status is not checked")
		}
	}
}
