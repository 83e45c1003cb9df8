package mail_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/schemes/mail"
)

// serveMessage serves a message of size bytes and returns its URL.
func serveMessage(t testing.TB, size int64) (url string) {
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

// maxMemory is the maximum growth of memory during a request, in bytes.
const maxMemory = 32 << 20

// memoryGrowth returns the growth of the memory obtained from the system, in bytes.
func memoryGrowth(before *runtime.MemStats) int64 {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return int64(now.Sys) - int64(before.Sys)
}

// TestMemory tests that a large message is streamed and not loaded into memory.
func TestMemory(t *testing.T) {
	size := int64(512 << 20)
	if testing.Short() {
		size = 64 << 20
	}
	url := serveMessage(t, size)
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
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 || memoryGrowth(&before) > maxMemory {
		t.Errorf("%d bytes of memory for a message of %d, %d from the system", used, n, memoryGrowth(&before))
	}
}

// TestHostileMemory tests that endless responses do not exhaust memory.
func TestHostileMemory(t *testing.T) {
	const hello, examined = "* PREAUTH [CAPABILITY IMAP4rev1] ready\r\n", "* 9 EXISTS\r\n* OK [UIDVALIDITY 42] x\r\nT1 OK done\r\n"
	for _, test := range []struct {
		name, path string
		said       []string // sent one by one, each after a command
		again      string   // then sent repeatedly without end
		fault      string
	}{
		{"line of a greeting", "/INBOX", nil, "x", "protocol"},
		{"greetings", "/INBOX", []string{"* NO x\r\n"}, "* OK x\r\n", "protocol"},
		{"capabilities", "/INBOX", []string{"* OK [CAPABILITY"}, " X", "protocol"},
		{"literal of 4 GiB", "/INBOX/;UID=7", []string{hello, examined, "* 2 FETCH (UID 7 BODY[] {4294967295}\r\n"}, "x", "too-large"},
		{"unsolicited literal", "/INBOX/;UID=7", []string{hello, "* 2 FETCH (UID 7 BODY[] {4294967295}\r\n"}, "x", "too-large"},
		{"quoted string", "/INBOX/;UID=7", []string{hello, examined, "* 2 FETCH (UID 7 BODY[] \""}, "x", "too-large"},
		{"flags", "/INBOX/;UID=7", []string{hello, examined, "* 2 FETCH (UID 7 FLAGS ("}, "a ", "too-large"},
		{"FETCH responses", "/INBOX/;UID=7", []string{hello, examined}, "* 2 FETCH (FLAGS (a))\r\n", "too-large"},
		{"mailboxes", "/", []string{hello}, "* LIST () \"/\" x\r\n", "too-large"},
		{"name of a mailbox", "/", []string{hello, "* LIST () \"/\" \""}, "x", "too-large"},
		{"summaries", "/INBOX", []string{hello, examined}, "* 1 FETCH (UID 5 RFC822.SIZE 10 ENVELOPE (NIL \"s\" NIL NIL NIL NIL NIL NIL NIL NIL))\r\n", "too-large"},
		{"addresses", "/INBOX", []string{hello, examined, "* 1 FETCH (UID 5 ENVELOPE (NIL \"s\" ("}, "(NIL NIL \"a\" \"b\")", "too-large"},
		{"parentheses", "/INBOX", []string{hello, examined, "* 1 FETCH (UID 5 BODYSTRUCTURE "}, "(", "protocol"},
		{"search results", "/INBOX?ALL", []string{hello, examined, "* SEARCH"}, " 12345", "too-large"},
		{"header", "/INBOX/;UID=7/;SECTION=1", []string{hello, examined, "* 2 FETCH (UID 7 BODY[1.MIME] {4294967295}\r\n"}, "x", "protocol"},
	} {
		t.Run(test.name, func(t *testing.T) {
			short.Sample(t, 3)
			var script faultnet.Script
			for i, text := range test.said {
				if i > 0 {
					script = append(script, faultnet.Expect("\r\n$"))
				}
				script = append(script, faultnet.Send(text))
			}
			chunk := strings.Repeat(test.again, 64<<10/len(test.again))
			s := faultnet.Listen(t, append(script, faultnet.Do("send without end", func(c *faultnet.Conn) error {
				for {
					if _, err := io.WriteString(c, chunk); err != nil {
						return err
					}
				}
			})))
			c := client(t, mail.Options{}, func(o *fetch.Options) { o.Policy.MaxBody = 1 << 20 })
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := discard(t, c, "imap://"+s.Addr().String()+test.path)
			if got := fetch.FaultOf(err).String(); got != test.fault || memoryGrowth(&before) > maxMemory {
				t.Errorf("got %v, want %s; %d bytes more", err, test.fault, memoryGrowth(&before))
			}
			var after runtime.MemStats
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 192<<20 {
				t.Errorf("allocated %d bytes", after.TotalAlloc-before.TotalAlloc)
			}
		})
	}
}

func discard(t *testing.T, c *fetch.Client, url string) (*fetch.Response, int64, error) {
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	return resp, n, err
}

func BenchmarkMessage(b *testing.B) {
	const size = 512 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		url := serveMessage(b, size)
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
