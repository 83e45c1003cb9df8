package prospero_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
)

// drips returns a server that replies to a request with the first text whose
// key occurs in the request. It sends the text before "|" immediately, and then
// one octet for each repeated request.
func drips(replies ...string) faultnet.Packets {
	var id, sent uint16
	var text string
	return faultnet.Packets{Answer: func(b []byte) [][]byte {
		ask, err := ardp.Parse(b)
		if err != nil {
			return nil
		}
		packet := func(data string) [][]byte {
			sent++
			return [][]byte{ardp.Packet{ID: ask.ID, Number: sent, Data: []byte(data)}.Append(nil)}
		}
		if ask.ID == id && len(text) > 0 {
			one := text[:1]
			text = text[1:] + one // the reply never ends
			return packet(one)
		}
		id, sent = ask.ID, 0
		for i := 0; i < len(replies); i += 2 {
			if strings.Contains(string(ask.Data), replies[i]) {
				first, rest, more := strings.Cut(replies[i+1], "|")
				if text = rest; !more {
					sent++
					return [][]byte{ardp.Packet{ID: ask.ID, Number: 1, Total: 1, Data: []byte(first)}.Append(nil)}
				}
				return packet(first)
			}
		}
		return nil
	}}
}

// TestSlow: a server that sends slowly cannot delay a request beyond its limit,
// in any part of a reply.
func TestSlow(t *testing.T) {
	const none, known = "FAILURE NOT-A-DIRECTORY\n", "ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS\n"
	const link = "LINK L FILE a INTERNET-D H ASCII x 0\n"
	for _, c := range []struct {
		name string
		p    faultnet.Packets
		body string
	}{
		{"the first line", drips("LIST", "LINK |x"), ""},
		{"lines that say nothing", drips("LIST", "|SUCCESS\n"), ""},
		{"a link", drips("LIST", link+link+"LINK |x"), `"a"`},
		{"links", drips("LIST", link+link+"|"+link), `"a"`},
		{"attributes of a link", drips("LIST", link+link+"|ATTRIBUTE x\n"), `"a"`},
		{"lines that say nothing behind a link", drips("LIST", link+link+"NONE-FOUND\n|\n\n"), `"a"`},
		{"what is known of an object", drips("LIST", none, "#ALL", "|"+known), ""},
		{"lines before the contents", drips("LIST", none, "#ALL", known, "CONTENTS", "|ATTRIBUTE x\n"), ""},
		{"contents", drips("LIST", none, "#ALL", known, "CONTENTS", data+"'12|3"), "12"},
		{"blanks before the contents", drips("LIST", none, "#ALL", known, "CONTENTS", data+"| "), ""},
		{"quotes instead of contents", drips("LIST", none, "#ALL", known, "CONTENTS", data+"|' ' '"), ""},
		{"lines behind the contents", drips("LIST", none, "#ALL", known, "CONTENTS", data+"'12'\n|x\n"), "12"},
		{"packets without a byte", faultnet.Packets{Answer: func() func(b []byte) [][]byte {
			var sent uint16
			return func(b []byte) [][]byte {
				ask, _ := ardp.Parse(b)
				sent++
				return [][]byte{ardp.Packet{ID: ask.ID, Number: sent, Control: sent%2 == 0}.Append(nil)}
			}
		}()}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := serve(t, c.p)
				got := schemetest.Exchange(t.Context(), client, request(t, host+"x"))
				if fault := fetch.FaultOf(got.Err); fault != fetch.Timeout && fault != fetch.Truncated || got.Took > 11*time.Minute || !strings.Contains(got.Body, c.body) {
					t.Errorf("got %q, %v after %v", got.Body, got.Err, got.Took)
				}
				client.Close()
				s.Close()
			})
		})
	}
}

// TestSlowReader pauses while it reads a listing. The pauses do not count while
// the server waits.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&text, "LINK L FILE file-%04d INTERNET-D H ASCII x 0\n", i)
		}
		client, s := serve(t, says(map[string]string{"LIST": text.String()}))
		resp, err := client.Do(t.Context(), request(t, host+"x"))
		if err != nil {
			t.Fatal(err)
		}
		schemetest.ListSlowly(t, resp, 2000)
		client.Close()
		s.Close()
	})
}

// TestLargeLink: the size of one link and of its entry is limited.
func TestLargeLink(t *testing.T) {
	link := func(name string) string { return "LINK L EXTERNAL a INTERNET-D H.EXAMPLE ASCII '" + name + "' 0\n" }
	way := "ATTRIBUTE OBJECT FIELD ACCESS-METHOD SEQUENCE AFTP '' H%03d.EXAMPLE '' '' BINARY\n"
	ways := ""
	for i := range 150 {
		ways += fmt.Sprintf(way, i)
	}
	for name, c := range map[string]struct {
		text, fault string
		urls        int
	}{
		"many ways":                     {link("/x") + ways, "ok", 16},
		"many ways to a long name":      {link(strings.Repeat("\xff", 4000)) + ways, "ok", 16},
		"many ways to too long a name":  {link(strings.Repeat("x", 66000)) + ways, "ok", 0},
		"far too much about it":         {link("/x") + strings.Repeat("ATTRIBUTE OBJECT FIELD X SEQUENCE "+strings.Repeat("x", 1000)+"\n", 300), "protocol", 0},
		"two of almost as much as goes": {strings.Repeat(link("/x")+strings.Repeat("ATTRIBUTE OBJECT FIELD X SEQUENCE "+strings.Repeat("x", 1000)+"\n", 240), 2), "ok", 2},
	} {
		client, _ := serve(t, says(map[string]string{"LIST": c.text}))
		got := schemetest.Exchange(t.Context(), client, request(t, host+"x"))
		if n := strings.Count(got.Body, "ftp://"); got.Fault() != c.fault || n != c.urls {
			t.Errorf("%s: got %d URLs in %d bytes, %v, want %d", name, n, len(got.Body), got.Err, c.urls)
		}
	}
}

// TestManyNotes: the number of notes that a server can cause is limited, and so is
// their length.
func TestManyNotes(t *testing.T) {
	link := "LINK L FILE a INTERNET-D H ASCII x 0\n"
	warnings := says(map[string]string{"LIST": strings.Repeat("WARNING "+strings.Repeat("x", 1000)+"\n", 50) + link})
	flood := faultnet.Packets{Answer: func(b []byte) (out [][]byte) {
		ask, _ := ardp.Parse(b)
		for range 10 {
			out = append(out, []byte{9, 1}, ardp.Packet{ID: ask.ID ^ 1, Number: 1}.Append(nil), ardp.Packet{ID: ask.ID, HasWait: true, Wait: 5}.Append(nil))
		}
		return append(out, ardp.Packet{ID: ask.ID, Number: 1, Total: 1, Data: []byte(link)}.Append(nil))
	}}
	for name, p := range map[string]faultnet.Packets{"warnings": warnings, "datagrams": flood} {
		client, _ := serve(t, p)
		req := request(t, host+"x")
		var notes []string
		req.Trace = &trace.Trace{Note: func(text string) { notes = append(notes, text) }}
		resp, err := client.Do(t.Context(), req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(b), `"a"`) || len(notes) != 20 || len(notes[0]) > 400 {
			t.Errorf("%s: got %q, %v and %d notes, the first of %d bytes", name, b, err, len(notes), len(notes[0]))
		}
		resp.Body.Close()
	}
}
