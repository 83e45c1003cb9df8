package doh_test

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
)

// TestTruncatedServices checks that a truncated answer is an error. The name of the
// server would otherwise be sent in plaintext without a note.
func TestTruncatedServices(t *testing.T) {
	r := serveMessages(t, func(m *dnsmessage.Message) { m.Truncated = true })
	if all, err := r.Services(t.Context(), "host.test", 443); fetch.FaultOf(err) != fetch.DNS {
		t.Errorf("got %d services, %v, want an error", len(all), err)
	}
}
