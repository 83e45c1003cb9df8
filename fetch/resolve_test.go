package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

type failingResolver struct{ err error }

func (r failingResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, r.err
}

// TestResolverError checks the class of errors of a Resolver.
func TestResolverError(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		fault Fault
	}{
		{"no address", nil, DNS},
		{"unknown name", &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}, DNS},
		{"no address of a family", &net.AddrError{Err: "no suitable address found", Addr: "h"}, DNS},
		{"error of another type", errors.New("resolver failed"), DNS},
		{"canceled", context.Canceled, Canceled},
		{"timeout", context.DeadlineExceeded, Timeout},
		{"own class", Usage.Errorf("wrong"), Usage},
	} {
		client := New(Options{Policy: Typed(), Resolver: failingResolver{c.err}}, page(func(*Request, *Response) {}))
		if _, err := client.Get(t.Context(), "http://h/"); FaultOf(err) != c.fault {
			t.Errorf("%s: got %v of class %v", c.name, err, FaultOf(err))
		}
		client.Close()
	}
}
