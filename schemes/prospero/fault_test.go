package prospero_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
)

// object returns a server with one object. Contents is sent unchanged.
func object(contents string) faultnet.Packets {
	return says(map[string]string{
		"LIST":     "FAILURE NOT-A-DIRECTORY\n",
		"#ALL":     "ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 5' bytes'\nATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS\n",
		"CONTENTS": contents,
	})
}

const data = "ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA "

// TestFaults checks the fault and the time limit for each error of a server or
// the network.
func TestFaults(t *testing.T) {
	list := func(reply string) faultnet.Packets { return says(map[string]string{"LIST": reply}) }
	raw := func(packets ...ardp.Packet) faultnet.Packets {
		return faultnet.Packets{Answer: func(b []byte) (out [][]byte) {
			ask, _ := ardp.Parse(b)
			for _, p := range packets {
				if p.ID == 0 {
					p.ID = ask.ID
				}
				out = append(out, p.Append(nil))
			}
			return out
		}}
	}
	lost := func(p faultnet.Packets, requests, replies faultnet.Fates) faultnet.Packets {
		p.Requests, p.Replies = requests, replies
		return p
	}
	const link = "LINK L FILE a INTERNET-D H ASCII x 0\n"
	for _, c := range []struct {
		name, path  string
		p           faultnet.Packets
		fault, body string
		took        time.Duration
	}{
		{"nobody answers", "x", faultnet.Packets{}, "timeout", "", time.Minute},
		{"the request is lost", "x", lost(list(link), faultnet.Nth(faultnet.Drop, 1), nil), "ok", `"a"`, 4 * time.Second},
		{"the request is lost thrice", "x", lost(list(link), faultnet.Nth(faultnet.Drop, 1, 2, 3), nil), "ok", `"a"`, 28 * time.Second},
		{"the answer is lost", "x", lost(list(link), nil, faultnet.Nth(faultnet.Drop, 1)), "ok", `"a"`, 4 * time.Second},
		{"the answer comes twice", "x", lost(list(link), nil, faultnet.Nth(faultnet.Double, 1)), "ok", `"a"`, 0},
		{"the rest of the answer never comes", "x", raw(ardp.Packet{Number: 1, Data: []byte(link + link + link[:10])}), "timeout", `"a"`, time.Minute},
		{"nothing but control packets", "x", raw(ardp.Packet{}), "timeout", "", time.Minute},
		{"of another conversation", "x", raw(ardp.Packet{ID: 0xffff, Number: 1, Total: 1, Data: []byte(link)}), "timeout", "", time.Minute},
		{"two totals", "x", raw(ardp.Packet{Number: 2, Total: 3}, ardp.Packet{Number: 1, Total: 2, Data: []byte(link)}), "protocol", "", 0},
		{"refused", "x", raw(ardp.Packet{Option: ardp.Refused}), "server-temp", "", 0},
		{"garbage", "x", faultnet.Packets{Answer: func([]byte) [][]byte { return [][]byte{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n")} }}, "protocol", "", 0},
		{"another version of ARDP", "x", faultnet.Packets{Answer: func([]byte) [][]byte { return [][]byte{{0, 1}} }}, "timeout", "", time.Minute},

		{"server does not understand", "x", list("ERROR Malformed input line: x\n"), "protocol", "", 0},
		{"server does not speak this version", "x", list("VERSION-NOT-SUPPORTED TRY 1-4"), "unsupported", "", 0},
		{"no right", "x", list("FAILURE NOT-AUTHORIZED\n"), "server-perm", "", 0},
		{"wants a login", "x", list("FAILURE AUTHENTICATION-REQUIRED Kerberos\n"), "auth", "", 0},
		{"server failed", "x", list("FAILURE SERVER-FAILED\n"), "server-temp", "", 0},
		{"failure of nobody's", "x", list("FAILURE AMBIGUOUS x\n"), "server-perm", "", 0},
		{"failure with a terminal's commands in it", "x", list("FAILURE X '\x1b]0;x\x07\r\n\xff'\n"), "server-perm", "", 0},
		{"warning", "x", list("WARNING OUT-OF-DATE x\n" + link), "ok", `"a"`, 0},
		{"no such archie search", "ARCHIE/MATCH(1,0,=)/x", list("FAILURE NOT-A-DIRECTORY\n"), "not-found", "", 0},
		{"line that is cut in quotes", "x", list(link + link + "LINK 'a"), "truncated", `"a"`, 0},
		{"endless line", "x", list("LINK " + strings.Repeat("x", 300<<10)), "protocol", "", 0},
		{"forwarded to nowhere", "x", list("FORWARDED INTERNET-D\n"), "protocol", "", 0},

		{"object", "x", object(data + "he'll''o'\n"), "mismatch?", "", 0},
		{"object of the right size", "x", object(data + "h'''llo'\n"), "ok", "h'llo", 0},
		{"object that is cut", "x", object(data + "'hello"), "truncated", "hello", 0},
		{"object that is too short", "x", object(data + "hell\n"), "truncated", "hell", 0},
		{"object that is too long", "x", object(data + "hello.\n"), "protocol", "hello", 0},
		{"object that is said to be of 4 GiB", "x", says(map[string]string{"LIST": "FAILURE NOT-A-DIRECTORY\n", "#ALL": "ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 4294967296' bytes'\n",
			"CONTENTS": data + "hello\n"}), "truncated", "hello", 0},
		{"object that is said to be of 2^64 bytes", "x", says(map[string]string{"LIST": "FAILURE NOT-A-DIRECTORY\n", "#ALL": "ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 18446744073709551616' bytes'\n",
			"CONTENTS": data + "hello\n"}), "ok", "hello", 0},
		{"object behind other lines", "x", object("VERSION 5\nATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 5' bytes'\n" + data + "hello\nATTRIBUTE x\n"), "ok", "hello", 0},
		{"object whose contents are refused", "x", object("FAILURE NOT-AUTHORIZED\n"), "server-perm", "", 0},
		{"object without contents", "x", object("ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 5' bytes'\n"), "not-found", "", 0},
		{"object with an error for contents", "x", object("ERROR x y z\n"), "protocol", "", 0},
		{"the object has another field", "x;SIZE=6%20bytes", object(""), "not-found", "", 0},
		{"object with that field, and one that is not told", "x;size=5%20bytes;a=b", object(data + "hello\n"), "ok", "hello", 0},
		{"object in no way that is known", "x", says(map[string]string{"LIST": "FAILURE NOT-A-DIRECTORY\n", "#ALL": "ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE LOCAL '' '' '' ''\n"}), "unsupported", "", 0},
		{"object that the directory above knows", "d/x", says(map[string]string{
			"COMPONENTS\n": "FAILURE NOT-A-DIRECTORY\n", "#ALL": "FAILURE NOT-FOUND\n", "COMPONENTS x": "LINK L FILE other INTERNET-D H ASCII d/other 0\nLINK L FILE x INTERNET-D H ASCII d/x 0\nATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS\n",
			"CONTENTS": data + "hello\n"}), "ok", "hello", 0},
		{"object that the directory above does not know", "d/x", says(map[string]string{
			"COMPONENTS\n": "FAILURE NOT-A-DIRECTORY\n", "#ALL": "FAILURE NOT-FOUND\n", "COMPONENTS x": "LINK L FILE other INTERNET-D H ASCII d/other 0\n"}), "not-found", "", 0},
		{"directory that is said to be one, and is none", "x", says(map[string]string{"LIST": "FAILURE NOT-A-DIRECTORY\n", "#ALL": "ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE drwxr-xr-x\n"}), "not-found", "", 0},
		{"far too much about one object", "x", says(map[string]string{"LIST": "FAILURE NOT-A-DIRECTORY\n", "#ALL": strings.Repeat("ATTRIBUTE OBJECT INTRINSIC X SEQUENCE "+strings.Repeat("x", 1000)+"\n", 300)}), "protocol", "", 0},
	} {
		if c.fault == "mismatch?" { // he'll'o: seven bytes where five were told of
			c.fault, c.body = "protocol", "hell'"
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := serve(t, c.p)
				got := schemetest.Exchange(t.Context(), client, request(t, host+c.path))
				if strings.Contains(c.body, `"`) && strings.Contains(got.Body, c.body) { // part of an entry
					c.body = got.Body
				}
				got.Check(t, c.fault, c.body, c.took)
				if n := len(s.Requests()); n > 16 {
					t.Errorf("%d datagrams were sent", n)
				}
				client.Close()
				s.Close()
			})
		})
	}
}

// TestUnreachable connects to a port without a server.
func TestUnreachable(t *testing.T) {
	n := faultnet.NewNetwork(t)
	c := client(t, func(o *fetch.Options) { o.Dial = n.Dial })
	if _, err := c.Do(t.Context(), request(t, host+"x")); !errors.Is(err, fetch.Connect) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

// TestForged: on real sockets, a reply from another address is ignored, even
// with the right conversation id.
func TestForged(t *testing.T) {
	server, liar := listen(t), listen(t)
	go func() {
		b := make([]byte, 2000)
		n, client, err := server.ReadFromUDPAddrPort(b)
		ask, _ := ardp.Parse(b[:n])
		if err != nil {
			return
		}
		says := func(from *net.UDPConn, label string) {
			p := ardp.Packet{ID: ask.ID, Number: 1, Total: 1, Data: []byte("LINK L FILE " + label + " INTERNET-D H ASCII x 0\n")}
			from.WriteToUDPAddrPort(p.Append(nil), client)
		}
		says(liar, "forged")
		says(server, "true")
	}()
	at := server.LocalAddr().(*net.UDPAddr).AddrPort()
	c := client(t, func(o *fetch.Options) { o.Policy.Ports = []fetch.PortRule{{Port: at.Port()}} })
	if got := outcome(c.Get(t.Context(), "prospero://"+at.String()+"/x")); !strings.HasPrefix(got, `document "true"`) {
		t.Errorf("got %s", got)
	}
}

func listen(t *testing.T) *net.UDPConn {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestNames(t *testing.T) { schemetest.Names(t, schemes(), "prospero://nowhere.example/x") }

// TestTwoAddresses: a server that listens only on IPv4 is found if its host
// also has an IPv6 address.
func TestTwoAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		silent := n.ServePackets("[2600:1::4]:1525", faultnet.Packets{})
		s := n.ServePackets("198.41.0.4:1525", says(map[string]string{"LIST": "NONE-FOUND\n"}))
		c := client(t, func(o *fetch.Options) { o.Dial, o.Resolver = n.Dial, addresses{"2600:1::4", "198.41.0.4"} })
		if got := schemetest.Exchange(t.Context(), c, request(t, "prospero://old.example/x")); got.Fault() != "ok" || got.Took > time.Second {
			t.Errorf("got %v after %v", got.Err, got.Took)
		}
		c.Close()
		silent.Close()
		s.Close()
	})
}

type addresses []string

func (a addresses) LookupNetIP(context.Context, string, string) (all []netip.Addr, err error) {
	for _, text := range a {
		all = append(all, netip.MustParseAddr(text))
	}
	return all, nil
}

// TestCanceled: the end of ctx ends a waiting Call.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := serve(t, faultnet.Packets{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if got := schemetest.Exchange(ctx, client, request(t, host+"x")); got.Fault() != "timeout" || got.Took != 5*time.Second {
			t.Errorf("got %v after %v", got.Err, got.Took)
		}
		client.Close()
		s.Close()
	})
}

// TestSweep makes every network operation fail.
func TestSweep(t *testing.T) {
	text := strings.Repeat("it's 0123456789abcdef\n", 2000)
	schemetest.Sweep{Schemes: schemes, URLs: []string{host + "x"}, Body: text, Serve: func(n *faultnet.Network) func() {
		s := prospertest.NewServer("H")
		s.Add(prospertest.Object{Name: "x", Target: "FILE", Contents: []byte(text), Attributes: []string{"INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS"}})
		return n.ServePackets("192.0.2.1:1525", faultnet.Packets{Answer: s.Answer}).Close
	}}.Run(t)
}
