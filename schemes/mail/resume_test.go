package mail_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/transcript"
	"github.com/anyurl/fetch/schemes/mail"
)

// TestCloseResumedListing tests that closing the body ends the second session
// of a listing during a pending Read.
func TestCloseResumedListing(t *testing.T) {
	const first = "= enter\n= inbox\n> T2 UID FETCH 1:* (UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE)\n< * nonsense"
	for name, second := range map[string]string{
		"greeting": "= stall",
		"search":   "= enter\n= inbox\n> T2 UID SEARCH UID 1:*\n= stall",
		"listing":  "= enter\n= inbox\n> T2 UID SEARCH UID 1:*\n< * SEARCH 7\n< T2 OK done\n> T3 UID FETCH 7 (UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE)\n= stall",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				n.Serve("192.0.2.1:143", scriptOf(t, first), scriptOf(t, second))
				done := make(chan struct{})
				defer close(done)
				d := mail.Schemes(mail.Options{})[0].Open(fetch.Env{Net: openNet{n: n}, Done: done})
				u, err := fetch.ParseURL("imap://192.0.2.1/INBOX")
				if err != nil {
					t.Fatal(err)
				}
				resp, err := d.Do(t.Context(), &fetch.Request{URL: u, Auth: &fetch.Credential{User: "bob", Password: "s3cret"}})
				if err != nil {
					t.Fatal(err)
				}
				read := make(chan error)
				go func() {
					_, err := io.Copy(io.Discard, resp.Body)
					read <- err
				}()
				synctest.Wait()
				start := time.Now()
				resp.Body.Close()
				if err := <-read; err == nil || time.Since(start) > 0 {
					t.Errorf("%v, after %v", err, time.Since(start))
				}
			})
		})
	}
}

func scriptOf(t *testing.T, talk string) faultnet.Script {
	c, err := transcript.Talk{Phrases: phrases}.Parse(talk)
	if err != nil {
		t.Fatal(err)
	}
	return c.Script
}

// An openNet is a Net without a policy. Only the methods below may be called.
type openNet struct {
	fetch.Net
	n *faultnet.Network
}

func (o openNet) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	return o.n.Dial(ctx, network, to)
}

func (openNet) Key(context.Context) string { return "" }
