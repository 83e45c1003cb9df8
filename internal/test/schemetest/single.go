package schemetest

import (
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
)

// A Single describes one request to a server in memory. The exchange runs in a
// synctest bubble, where time is fake.
type Single struct {
	Schemes []fetch.Scheme
	URL     string
	Op      fetch.Op
	Address string          // "192.0.2.1:79"
	Script  faultnet.Script // script of each connection to Address
	MaxBody int64           // see fetch.Policy
}

// ExchangeOnce sends the request of s and returns its result. If Response.Fault
// is set, it becomes the error of the result.
func ExchangeOnce(t *testing.T, s Single) (r Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		server := n.Serve(s.Address, s.Script)
		c := NewClient(t, s.Schemes, func(o *fetch.Options) { o.Dial, o.Policy.MaxBody = n.Dial, s.MaxBody })
		req := NewRequest(t, s.URL)
		req.Op = s.Op
		r = Exchange(t.Context(), c, req)
		if r.Err == nil && r.Response.Fault != nil {
			r.Err, r.Body = r.Response.Fault, ""
		}
		c.Close()
		server.Close()
	})
	return r
}
