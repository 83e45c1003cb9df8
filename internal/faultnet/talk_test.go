package faultnet

import (
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
)

// TestTalk: what is said goes out as it is written, and what is heard must be
// what is written.
func TestTalk(t *testing.T) {
	talk := Talk{
		Phrases: map[string]string{"login": "> USER a\n< 331 go on\n= pass", "pass": "> PASS b\n< 230 in"},
		Verb:    func(text string) (Step, bool) { return Send("!"), text == "shout" },
	}
	const text = "<< \"220 \\x00\"\n<< \"a\"*3\n< \n= delay 10s\n= login\n= shout\n> \"CWD \"\n= fin\n"
	for _, test := range []struct{ says, want string }{
		{"USER a\r\nPASS b\r\nCWD \r\n", ""},
		{"USER a\r\nPASS c\r\n", `got "PASS c\r\n", want "PASS b\r\n"`},
		{"USER a\r\n", `client ended, want "PASS b\r\n"`},
		{"USER a\n", `got "USER a\n", want "USER a\r\n"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			script, sent, err := talk.Script(text)
			if err != nil || sent != "USER a\r\nPASS b\r\nCWD \r\n" {
				t.Fatalf("sent %q, %v", sent, err)
			}
			n := NewNetwork(t)
			s := n.Serve("192.0.2.1:21", script)
			c, err := n.Dial(t.Context(), "tcp", netip.MustParseAddrPort("192.0.2.1:21"))
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(c, test.says)
			c.(interface{ CloseWrite() error }).CloseWrite()
			got, _ := io.ReadAll(c)
			c.Close()
			synctest.Wait()
			if err := s.Err(); test.want == "" && (err != nil || string(got) != "220 \x00aaa\r\n331 go on\r\n230 in\r\n!") ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%q: heard %q, error %v, want %s", test.says, got, err, test.want)
			}
		})
	}
}

func TestTalkMistakes(t *testing.T) {
	for _, text := range []string{"", "? x", "USER a", "= jump", "= delay", "= delay x", "= outer"} {
		if s, _, err := (Talk{Phrases: map[string]string{"outer": "= jump"}}).Script(text); err == nil {
			t.Errorf("%q: read as %v", text, s)
		}
	}
}
