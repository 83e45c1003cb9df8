package mail_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/uri"
)

// TestSlowServer checks that a server cannot hold a request open with slow
// responses that the driver reads before it returns its own response.
func TestSlowServer(t *testing.T) {
	send, expect := faultnet.Send, faultnet.Expect
	selected := faultnet.Script{send("* PREAUTH [CAPABILITY IMAP4rev1 ESEARCH] hi\r\n"), expect("^T1 EXAMINE INBOX\r\n$"), send("* 9 EXISTS\r\nT1 OK done\r\n")}
	found := func(uids string) faultnet.Script {
		return append(selected[:len(selected):len(selected)], expect("^T2 UID SEARCH .*\r\n$"), send("* ESEARCH (TAG \"T2\") UID ALL "+uids+"\r\nT2 OK done\r\n"))
	}
	batches := found("1:4000000000") // the server describes none of the messages
	for i := range 1000 {
		batches = append(batches, expect(fmt.Sprintf("^T%d UID FETCH .*\r\n$", i+3)), faultnet.Delay(50*time.Second), send(fmt.Sprintf("T%d OK done\r\n", i+3)))
	}
	message := append(selected[:len(selected):len(selected)], expect("^T2 UID FETCH 5 BODY.PEEK.*\r\n$"), send("* 1 FETCH (UID 5 BODY[] {7}\r\n\r\nhello)\r\nT2 OK done\r\n"), faultnet.Stall())
	part := append(found("5"), expect("^T3 UID FETCH 5 .*\r\n$"), send("* 1 FETCH (UID 5 BODY[] {100000}\r\nMessage-ID: <m@x>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"),
		faultnet.SendSlow(strings.Repeat("x", 1000), 1, 50*time.Second))
	header := append(selected[:len(selected):len(selected)], expect("^T2 UID FETCH 5 .*\r\n$"), send("* 1 FETCH (UID 5 RFC822.SIZE 7 BODY[HEADER] {100000}\r\n"),
		faultnet.SendSlow(strings.Repeat("x", 1000), 1, 50*time.Second))
	stores := []string{"imap://192.0.2.1/INBOX"}
	for name, test := range map[string]struct {
		url     string
		options mail.Options
		op      fetch.Op
		scripts []faultnet.Script
		fault   string // "ok": the response lacks only the time
	}{
		"time of a message":     {"imap://192.0.2.1/INBOX/;UID=5", mail.Options{Mbox: true}, fetch.Get, []faultnet.Script{message, batches}, "ok"},
		"messages as mbox":      {"imap://192.0.2.1/INBOX", mail.Options{Mbox: true}, fetch.Get, []faultnet.Script{batches}, "timeout"},
		"messages of an author": {"mailto:a@x.example", mail.Options{Stores: stores}, fetch.Get, []faultnet.Script{batches}, "timeout"},
		"part of a message":     {"mid:m@x/part@x", mail.Options{Stores: stores}, fetch.Get, []faultnet.Script{part}, "timeout"},
		"header of a message":   {"imap://192.0.2.1/INBOX/;UID=5", mail.Options{}, fetch.Stat, []faultnet.Script{header}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:143", test.scripts...)
				c := client(t, test.options, func(o *fetch.Options) { o.Dial = n.Dial })
				start, fault := time.Now(), "ok"
				resp, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse(test.url), Op: test.op})
				if err != nil {
					fault = fetch.FaultOf(err).String()
				} else {
					resp.Body.Close()
				}
				if took := time.Since(start); fault != test.fault || took > 10*time.Minute {
					t.Errorf("after %v: %v", took, err)
				}
				c.Close()
				synctest.Wait()
				s.Close()
			})
		})
	}
}

// TestEndlessSearch checks the number of entries if the server finds billions of
// messages in a few bytes, and then sends a malformed description.
func TestEndlessSearch(t *testing.T) {
	send, expect := faultnet.Send, faultnet.Expect
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		s := n.Serve("192.0.2.1:143", faultnet.Script{
			send("* PREAUTH [CAPABILITY IMAP4rev1 ESEARCH] hi\r\n"), expect("EXAMINE INBOX\r\n$"), send("* 9 EXISTS\r\nT1 OK done\r\n"),
			expect("SEARCH .*\r\n$"), send("* ESEARCH (TAG \"T2\") UID ALL 1:4000000000\r\nT2 OK done\r\n"),
			expect("FETCH .*\r\n$"), send("* 1 FETCH (((((\r\n"),
		})
		c := client(t, mail.Options{}, func(o *fetch.Options) { o.Dial = n.Dial })
		resp, err := c.Get(t.Context(), "imap://192.0.2.1/INBOX?ALL")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 100<<20)); fetch.FaultOf(err) != fetch.TooLarge {
			t.Errorf("got %d bytes, %v", n, err)
		}
		resp.Body.Close()
		c.Close()
		synctest.Wait()
		s.Close()
	})
}
