package ftp_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/ftp"
)

// TestTurns: where the server takes no more sessions of ours, the next request
// waits for one of them, for as long as its ctx and for a minute at most.
func TestTurns(t *testing.T) {
	for name, full := range map[string]faultnet.Script{
		"greeting": {faultnet.Send("421 There are too many connections from your address\r\n")},
		"login":    {faultnet.Send("220 hello\r\n"), faultnet.Lines(faultnet.On("", 0, faultnet.Send("530 Too many users\r\n")))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				control := n.Serve("192.0.2.1:21", faultnet.Script{faultnet.Send("220 hello\r\n"), obliging()}, full)
				n.Serve("192.0.2.1:40000", faultnet.Script{faultnet.Send("hello\r\n")})
				w := &world{Network: n, control: control}
				w.client = fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: n.Dial}, ftp.Schemes(ftp.Options{})...)
				first, err := w.client.Get(t.Context(), "ftp://192.0.2.1/x")
				if err != nil {
					t.Fatal(err)
				}
				if _, took, err := w.get(t.Context(), "ftp://192.0.2.1/x"); !errors.Is(err, fetch.TryLater) || took != time.Minute {
					t.Errorf("got %v after %v, want a minute's waiting", err, took)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, took, err := w.get(ctx, "ftp://192.0.2.1/x"); !errors.Is(err, fetch.Timeout) || took != time.Second {
					t.Errorf("got %v after %v, want a timeout after a second", err, took)
				}
				done := make(chan error, 2)
				for range cap(done) {
					go func() {
						body, _, err := w.get(t.Context(), "ftp://192.0.2.1/x")
						if err == nil && body != "hello\r\n" {
							err = errors.New(body)
						}
						done <- err
					}()
				}
				synctest.Wait()
				if _, err := io.ReadAll(first.Body); err != nil {
					t.Error(err)
				}
				for range cap(done) {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
				if _, took, err := w.get(t.Context(), "ftp://bob:pw@192.0.2.1/x"); !errors.Is(err, fetch.TryLater) || took > 2*time.Second {
					t.Errorf("got %v after %v, want a few attempts after the idle session was closed", err, took)
				}
				w.end()
			})
		})
	}
}
