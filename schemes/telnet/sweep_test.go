package telnet_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/telnet"
)

// TestSweep lets each operation of a session and of a screen fail in each way:
// what is brought is whole or the beginning of it with an error, and nothing
// takes for ever.
func TestSweep(t *testing.T) {
	for _, test := range []struct {
		url, want string
		script    faultnet.Script
	}{
		{"telnet://192.0.2.1", "name? hello", faultnet.Script{faultnet.Send("\xff\xfd\x18name? "), faultnet.Expect("ada\n"), faultnet.Send("hello")}},
		{"tn3270://192.0.2.1", "Hi\n", faultnet.Script{faultnet.Send(agree), faultnet.Expect("\x19"), faultnet.Send(screen), faultnet.Stall()}},
	} {
		faultnet.Sweep(t, 1, func(t *testing.T, at int, f faultnet.Failure) (count int) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:23", test.script)
				ctx, b := faultnet.NewBreaker(t.Context(), at, f)
				c := client(t, telnet.Options{Idle: time.Minute}, func(o *fetch.Options) { o.Dial = b.Dial(n.Dial) })
				u, _ := fetch.ParseURL(test.url)
				start := time.Now()
				resp, err := c.Do(ctx, &fetch.Request{URL: u})
				body := ""
				if err == nil {
					if resp.Input != nil {
						io.WriteString(resp.Input, "ada\n")
					}
					var text []byte
					text, err = io.ReadAll(resp.Body)
					body = string(text)
					resp.Body.Close()
				}
				if at == 0 && (err != nil || body != test.want) || !strings.HasPrefix(test.want, body) || err == nil && resp.Input == nil && body != test.want {
					t.Errorf("%s: got %q, %v", test.url, body, err)
				}
				if err != nil && fetch.FaultOf(err) == fetch.Internal {
					t.Errorf("%s: an error that nobody classed: %v", test.url, err)
				}
				if took := time.Since(start); took > 2*time.Minute {
					t.Errorf("%s: took %v", test.url, took)
				}
				count = b.Count()
				c.Close()
				synctest.Wait()
				s.Close()
			})
			return count
		})
	}
}
