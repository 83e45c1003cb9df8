package mail_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/schemes/mail"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	s := peer.Dovecot(t, peer.DovecotOptions{Config: []string{"mail_max_userip_connections = 100"}})
	large := plainMessage + strings.Repeat("A line among many.\r\n", 10_000)
	s.Add(peer.User, "INBOX", plainMessage)
	s.Add(peer.User, "INBOX", large)
	base := "imap://" + peer.User + ":" + peer.Password + "@" + s.Addr
	fetchtest.Run(t, fetchtest.Suite{
		// A listing has URLs without a login, and so has nobody to show it.
		Schemes:  func() []fetch.Scheme { return mail.Schemes(mail.Options{}) },
		Document: base + "/INBOX/;UID=2",
		Body:     []byte(large),
		Missing:  base + "/INBOX/;UID=9",
		Menu:     base + "/",
		Names:    []string{"INBOX"},
		Refused:  []string{base + "/a%0d%0ab", base + "/INBOX/;UID=x", "imap://h:25/INBOX", "mid:a%0ab", "cid:x@y", "mailto:x@y"},
	})
}

// TestSweep lets each operation of a login, a message and another one fail in
// each way: the message is whole, or there is an error, and nothing takes for
// ever.
func TestSweep(t *testing.T) {
	answer := func(n int) *faultnet.Hook {
		text := fmt.Sprintf("* 1 FETCH (UID 1 BODY[] {28}\r\nSubject: a\r\n\r\nhello, hello\r\n)\r\nT%d OK done\r\n", n)
		return faultnet.On(fmt.Sprintf(`^T%d UID FETCH 1 BODY`, n), 0, faultnet.Send(text))
	}
	faultnet.Sweep(t, 1, func(t *testing.T, at int, f faultnet.Failure) (count int) {
		synctest.Test(t, func(t *testing.T) {
			n := faultnet.NewNetwork(t)
			s := n.Serve("192.0.2.1:143", faultnet.Script{
				faultnet.Send("* OK [CAPABILITY IMAP4rev1] ready\r\n"),
				faultnet.Lines(
					faultnet.On(`^A1 LOGIN "bob" "s3cret"`, 0, faultnet.Send("A1 OK [CAPABILITY IMAP4rev1] welcome\r\n")),
					faultnet.On(`^T1 EXAMINE INBOX`, 0, faultnet.Send("* 1 EXISTS\r\n* OK [UIDVALIDITY 3] x\r\nT1 OK done\r\n")),
					answer(2), answer(3), faultnet.On("^Z LOGOUT", 0)),
			})
			ctx, b := faultnet.NewBreaker(t.Context(), at, f)
			c := client(t, mail.Options{}, func(o *fetch.Options) { o.Dial = b.Dial(n.Dial) })
			u, _ := fetch.ParseURL("imap://bob:s3cret@192.0.2.1/INBOX/;UID=1")
			start := time.Now()
			for range 2 {
				resp, err := c.Do(ctx, &fetch.Request{URL: u})
				body := ""
				if err == nil {
					var text []byte
					text, err = io.ReadAll(resp.Body)
					body = string(text)
					resp.Body.Close()
				}
				if err == nil && body != "Subject: a\r\n\r\nhello, hello\r\n" || at == 0 && err != nil {
					t.Errorf("got %q, %v", body, err)
				}
				if err != nil && fetch.FaultOf(err) == fetch.Internal {
					t.Errorf("an error that nobody classed: %v", err)
				}
			}
			if took := time.Since(start); took > 3*time.Minute {
				t.Errorf("took %v", took)
			}
			count = b.Count()
			c.Close()
			synctest.Wait()
			s.Close()
		})
		return count
	})
}

// streamed serves one message of size bytes to whoever comes.
func streamed(t testing.TB, size int64) (url string) {
	s := faultnet.Listen(t, faultnet.Script{
		faultnet.Send("* PREAUTH [CAPABILITY IMAP4rev1] ready\r\n"),
		faultnet.Expect("EXAMINE INBOX\r\n$"), faultnet.Send("* 1 EXISTS\r\nT1 OK done\r\n"),
		faultnet.Expect("BODY.PEEK.*\r\n$"), faultnet.Send(fmt.Sprintf("* 1 FETCH (UID 1 BODY[] {%d}\r\nX: y\r\n\r\n", size+8)),
		faultnet.Do("send", func(c *faultnet.Conn) (err error) {
			chunk := []byte(strings.Repeat("0123456789abcdef", 4<<10))
			for left := size; left > 0 && err == nil; left -= int64(len(chunk)) {
				_, err = c.Write(chunk[:min(left, int64(len(chunk)))])
			}
			return err
		}), faultnet.Send(")\r\nT2 OK done\r\n"), faultnet.Stall(),
	})
	return "imap://" + s.Addr().String() + "/INBOX/;UID=1"
}

// TestMemory: a message streams, whatever its size.
func TestMemory(t *testing.T) {
	const size = 64 << 20
	url := streamed(t, size)
	c := client(t, mail.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	runtime.ReadMemStats(&after)
	if n != size+8 || err != nil || resp.Size != n {
		t.Errorf("got %d bytes of %d, %v", n, resp.Size, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes of memory for a message of %d", used, n)
	}
}

func BenchmarkMessage(b *testing.B) {
	const size = 512 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		url := streamed(b, size)
		c := client(b, mail.Options{})
		resp, err := c.Get(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); n != size+8 || err != nil {
			b.Fatal(n, err)
		}
		resp.Body.Close()
	}
}
