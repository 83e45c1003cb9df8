package http

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/base/turn"
	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// A usableConn is an HTTP/3 connection on which more requests can be sent.
type usableConn struct{ message.Conn }

func (usableConn) Usable() bool { return true }

// TestPauseAfterConnection checks that a request that waited for the connection
// of another request to the same server pauses before it is sent, and that the
// first request does not.
func TestPauseAfterConnection(t *testing.T) {
	for name, start := range map[string]func(release <-chan struct{}) func(context.Context) error{
		"HTTP/2": func(release <-chan struct{}) func(context.Context) error {
			s := new(h2Servers)
			return func(ctx context.Context) error {
				sent, err := s.awaitFirst(ctx, poolKey{}, "h:443")
				if err == nil {
					<-release
					sent()
				}
				return err
			}
		},
		"HTTP/3": func(release <-chan struct{}) func(context.Context) error {
			p := new(h3pool)
			return func(ctx context.Context) error {
				_, _, err := p.get(ctx, "key", []string{"h:443"}, func() (*h3conn, error) {
					<-release
					return &h3conn{Conn: usableConn{}, addr: "h:443"}, nil
				})
				return err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				request := start(release)
				pauses := make(chan int, 10)
				for i := range 3 {
					go func() {
						ctx := turn.WithPause(t.Context(), func(context.Context) { pauses <- i })
						if err := request(ctx); err != nil {
							t.Error(err)
						}
					}()
					synctest.Wait()
				}
				close(release)
				synctest.Wait()
				close(pauses)
				count := map[int]int{}
				for i := range pauses {
					count[i]++
				}
				if count[0] != 0 || count[1] != 1 || count[2] != 1 {
					t.Errorf("pauses by request: %v", count)
				}
			})
		})
	}
}
