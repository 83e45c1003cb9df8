package mail_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/mail"
)

// TestCourier lists and retrieves messages of Courier. Each listed URL is
// retrieved in a connection of its own, in which the server sends another
// UIDVALIDITY.
func TestCourier(t *testing.T) {
	t.Parallel()
	s := peer.CourierIMAP(t)
	s.Add(plainMessage)
	s.Add(multipart)
	base := "imap://" + s.Addr
	all, err := schemetest.List(t, client(t, mail.Options{}), base+"/INBOX")
	if err != nil || len(all) != 2 {
		t.Fatalf("got %+v, %v", all, err)
	}
	for i, want := range []string{plainMessage, multipart} {
		if strings.Contains(all[i].URL.String(), "UIDVALIDITY") {
			t.Errorf("%v: the next EXAMINE returns another UIDVALIDITY", all[i].URL)
		}
		if _, body, err := schemetest.Read(t, client(t, mail.Options{}), all[i].URL.String()); err != nil || body != want {
			t.Errorf("%v: got %q, %v", all[i].URL, body, err)
		}
	}
	found, err := schemetest.List(t, client(t, mail.Options{}), base+"/INBOX?SUBJECT%20tea")
	if err != nil || len(found) != 1 || found[0].URL != all[0].URL {
		t.Errorf("search: got %+v, %v", found, err)
	}
	_, _, err = schemetest.Read(t, client(t, mail.Options{}), base+"/INBOX;UIDVALIDITY=7/;UID=1")
	if fetch.FaultOf(err) != fetch.NotFound || !strings.Contains(err.Error(), "assigns a new UIDVALIDITY") {
		t.Errorf("old UIDVALIDITY: got %v", err)
	}
}

// TestUIDValidity checks which values of UIDVALIDITY the URLs of a listing
// contain, and how long a listing takes. A value near the present time is
// requested a second time.
func TestUIDValidity(t *testing.T) {
	const waited = 1100 * time.Millisecond
	for _, test := range []struct {
		name   string
		values []int64 // relative to the time of the test
		want   int64   // relative to the time of the test; 0: none
		took   time.Duration
	}{
		{"from an earlier day", []int64{-86400}, -86400, 0},
		{"of a new mailbox", []int64{-3, -3}, -3, waited},
		{"of each EXAMINE", []int64{0, 1}, 0, waited},
		{"of a server whose clock is ahead", []int64{120, 121}, 0, waited},
		{"of a server whose clock is far ahead", []int64{1200}, 1200, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				script := faultnet.Script{faultnet.Send("* PREAUTH [CAPABILITY IMAP4rev1] hi\r\n")}
				for i, v := range test.values {
					script = append(script, faultnet.Expect(fmt.Sprintf("^T%d EXAMINE INBOX\r\n$", i+1)),
						faultnet.Send(fmt.Sprintf("* 1 EXISTS\r\n* OK [UIDVALIDITY %d] ok\r\nT%d OK done\r\n", start.Unix()+v, i+1)))
				}
				script = append(script, faultnet.Expect("UID FETCH 1:"),
					faultnet.Send(fmt.Sprintf("* 1 FETCH (UID 5)\r\nT%d OK done\r\n", len(test.values)+1)), faultnet.Lines(faultnet.On("LOGOUT", 0)))
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:143", script)
				c := client(t, mail.Options{}, func(o *fetch.Options) { o.Dial = n.Dial })
				all, err := schemetest.List(t, c, "imap://192.0.2.1/INBOX")
				want := "imap://192.0.2.1/INBOX/;UID=5"
				if test.want != 0 {
					want = fmt.Sprintf("imap://192.0.2.1/INBOX;UIDVALIDITY=%d/;UID=5", start.Unix()+test.want)
				}
				if err != nil || len(all) != 1 || all[0].URL.String() != want || time.Since(start) != test.took {
					t.Errorf("got %+v, %v after %v, want %s", all, err, time.Since(start), want)
				}
				c.Close()
				synctest.Wait()
				s.Close()
			})
		})
	}
}
