package transcript

import (
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
)

// TestTalk sends the bytes of a conversation and checks those of the client.
func TestTalk(t *testing.T) {
	talk := Talk{Phrases: map[string]string{"login": "> USER a\n< 331 go on\n= pass", "pass": "> PASS b\n< 230 in"}}
	const text = "<< \"220 \\x00\"\n<< \"a\"*3\n<< 'b'\n<\n< \n= delay 10s\n= login\n= bytes 3\n= drip 2\n> \"CWD \"\n= fin\n"
	const said = "220 \x00aaa'b'\r\n\r\n331 go on\r\n230 in\r\n"
	for _, test := range []struct{ sends, want string }{
		{"USER a\r\nPASS b\r\nCWD \r\n", ""},
		{"USER a\r\nPASS c\r\n", `got "PASS c\r\n", want "PASS b\r\n"`},
		{"USER a\r\n", `client ended, want "PASS b\r\n"`},
		{"USER a\n", `got "USER a\n", want "USER a\r\n"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, err := talk.Parse(text)
			if err != nil || c.Sent != "USER a\r\nPASS b\r\nCWD \r\n" || c.Said != said {
				t.Fatalf("sent %q, said %q, %v", c.Sent, c.Said, err)
			}
			n := faultnet.NewNetwork(t)
			s := n.Serve("192.0.2.1:21", c.Script)
			conn, err := n.Dial(t.Context(), "tcp", netip.MustParseAddrPort("192.0.2.1:21"))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			io.WriteString(conn, test.sends)
			conn.(interface{ CloseWrite() error }).CloseWrite()
			got, _ := io.ReadAll(conn)
			conn.Close()
			synctest.Wait()
			if err := s.Err(); test.want == "" && (err != nil || string(got) != said+"000xx" || time.Since(start) != 11*time.Second) ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%q: received %q, error %v, want %s", test.sends, got, err, test.want)
			}
		})
	}
}

func TestTalkMistakes(t *testing.T) {
	talk := Talk{Phrases: map[string]string{"outer": "= jump", "loop": "= again", "again": "= loop"}}
	for _, text := range []string{
		"", "? x", "USER a", "= jump", "= delay", "= delay x", "= outer", "= loop", "= bytes", "= bytes x", "= drip -1", "= drip 4194305", "= fin now", `< "ab"*2097153`,
		"= tls", // without certificates
	} {
		if c, err := talk.Parse(text); err == nil {
			t.Errorf("%q: parsed as %v", text, c)
		}
	}
	talk.Certs = faultnet.NewCerts(t, Server)
	if c, err := talk.Parse("= tls never"); err == nil {
		t.Errorf("tls never: parsed as %v", c)
	}
}

// FuzzTalk parses any text without a panic. What the server sends is bounded by
// the lines.
func FuzzTalk(f *testing.F) {
	for _, text := range []string{"< a\n> b\n= p", "<< \"\\x00\"*3", "= delay 1s\n= fin", "= q", "< \"a\"*1000000", "?", "= bytes 5\n= drip 2\n= tls"} {
		f.Add(text)
	}
	talk := Talk{Phrases: map[string]string{"p": "< a\n= r", "q": "= q", "r": "> b"}}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := talk.Parse(text)
		if n := strings.Count(text, "\n") + 1; len(c.Said) > n*(maxText+2)+len(text) || len(c.Script) > 2*n {
			t.Errorf("%d bytes in %d steps, %v", len(c.Said), len(c.Script), err)
		}
	})
}
