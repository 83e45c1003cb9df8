package mail_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/mail"
)

// TestRetryOnNewSession tests that a request on a session closed by the server
// is retried on a new session, and that the Trace reports the void attempt.
func TestRetryOnNewSession(t *testing.T) {
	script := func() faultnet.Script {
		return faultnet.Script{faultnet.Send("* PREAUTH [CAPABILITY IMAP4rev1] ready\r\n"), faultnet.Lines(
			faultnet.On(`^T1 EXAMINE INBOX`, 1, faultnet.Send("* 1 EXISTS\r\nT1 OK done\r\n")),
			faultnet.On(`^T2 UID FETCH 1 BODY.PEEK\[\]`, 1, faultnet.Send("* 1 FETCH (UID 1 BODY[] {7}\r\n\r\nhello)\r\nT2 OK done\r\n")),
			faultnet.On(`^T3`, 1, faultnet.Fin()),
			faultnet.On(`^Z LOGOUT`, 0),
		)}
	}
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		n.Serve("192.0.2.1:143", script(), script())
		c := client(t, mail.Options{}, func(o *fetch.Options) { o.Dial = n.Dial })
		u, err := fetch.ParseURL("imap://192.0.2.1/INBOX/;UID=1")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			var sent strings.Builder
			void := 0
			trace := &trace.Trace{Sent: func(p []byte) { sent.Write(p) }, Restart: func() { sent.Reset(); void++ }}
			resp, err := c.Do(t.Context(), &fetch.Request{URL: u, Trace: trace})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
			resp.Body.Close()
			if strings.Count(sent.String(), "UID FETCH") != 1 || void != i {
				t.Errorf("request %d: %d void attempts, then sent %q", i, void, sent.String())
			}
		}
		c.Close()
		synctest.Wait()
	})
}
