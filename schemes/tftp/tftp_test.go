package tftp_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/tftp"
)

func schemes() []fetch.Scheme { return tftp.Schemes(tftp.Options{}) }

func block(n int, data string) []byte {
	return append([]byte{0, 3, byte(n >> 8), byte(n)}, data...)
}

func options(words ...string) []byte {
	return []byte("\x00\x06" + strings.Join(words, "\x00") + "\x00")
}

func failure(code byte, text string) []byte {
	return []byte("\x00\x05\x00" + string(code) + text + "\x00")
}

// A file is a server that has one file. The first answers are sent to the
// request, instead of the first block.
func file(body string, size int, first ...[]byte) func() func([]byte) [][]byte {
	return func() func([]byte) [][]byte {
		return func(request []byte) [][]byte {
			switch binary.BigEndian.Uint16(request) {
			case 1:
				if first != nil {
					return first
				}
				return [][]byte{block(1, part(body, 0, size))}
			case 4:
				n := int(binary.BigEndian.Uint16(request[2:]))
				if n*size > len(body) {
					return nil // the last block was acknowledged
				}
				return [][]byte{block(n+1, part(body, n, size))}
			}
			return nil
		}
	}
}

func part(body string, n, size int) string {
	return body[min(n*size, len(body)):min((n+1)*size, len(body))]
}

// exchange sends a request to a server in memory. Time is fake.
func exchange(t *testing.T, p faultnet.Packets, change ...func(*fetch.Options)) (r schemetest.Result, sent [][]byte) {
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		s := n.ServePackets("192.0.2.1:69", p)
		c := schemetest.NewClient(t, schemes(), append(change, func(o *fetch.Options) { o.Dial = n.Dial })...)
		r = schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, "tftp://192.0.2.1/f"))
		c.Close()
		synctest.Wait() // until the server has received the last datagram
		s.Close()
		sent = s.Requests()
	})
	return r, sent
}

// TestReplies checks how the answers of unusual and hostile servers are
// reported, and the last datagram that they receive.
func TestReplies(t *testing.T) {
	const request = "\x00\x01f\x00octet\x00tsize\x000\x00blksize\x001428\x00timeout\x002\x00"
	always := func(p ...[]byte) func() func([]byte) [][]byte {
		return func() func([]byte) [][]byte { return func([]byte) [][]byte { return p } }
	}
	body := strings.Repeat("0123456789", 200)
	for _, test := range []struct {
		name              string
		session           func() func([]byte) [][]byte
		fault, body, last string
	}{
		{"no options", file(body, 512), "ok", body, "\x00\x04\x00\x04"},
		{"options", file(body, 1428, options("blksize", "1428", "tsize", "2000", "timeout", "2")), "ok", body, "\x00\x04\x00\x02"},
		{"smaller blocks", file(body, 100, options("BLKSIZE", "100")), "ok", body, "\x00\x04\x00\x15"},
		{"empty list of options", file(body, 512, options()[:2]), "ok", body, "\x00\x04\x00\x04"},
		{"size zero", file(body, 512, options("tsize", "0")), "ok", body, "\x00\x04\x00\x04"},
		{"empty file", file("", 512), "ok", "", "\x00\x04\x00\x01"},
		{"options twice", file(body, 512, options("tsize", "2000"), options("tsize", "2000")), "ok", body, "\x00\x04\x00\x04"},
		{"file shorter than its size", file(body, 512, options("tsize", "3000")), "truncated", body, "\x00\x04\x00\x04"},
		{"file longer than its size", file(body, 512, options("tsize", "1000")), "protocol", body[:1000], ""},
		{"missing", always(failure(1, "File not found\x1b[2J")), "not-found", "", request},
		{"denied", always(failure(2, "Access violation")), "server-perm", "", request},
		{"illegal operation", always(failure(4, "what?")), "protocol", "", request},
		{"error without a text", always([]byte{0, 5, 0, 0}), "server-perm", "", request},
		{"error in the file", file(body, 512, block(1, body[:512]), failure(0, "disk error")), "truncated", body[:512], ""},
		{"silent", always(), "timeout", "", request},
		{"silent in the file", file(body[:512], 512, block(1, body[:512]), block(7, "x")), "ok", body[:512], ""},
		{"empty datagrams", always([]byte{}, []byte{0}, []byte{0, 3}, []byte{0, 3, 0}), "timeout", "", request},
		{"requests instead of answers", always([]byte("\x00\x01f\x00octet\x00"), []byte("\x00\x02f\x00octet\x00"), []byte("\x00\x04\x00\x00")), "timeout", "", request},
		{"larger blocks than requested", always(options("blksize", "1429")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"blocks of no bytes", always(options("blksize", "0")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"tiny blocks", always(options("blksize", "7")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"option twice in a list", always(options("blksize", "512", "blksize", "600")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"option without a value", always(options("blksize")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"option without an end", always([]byte("\x00\x06blksize\x00512")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"option that was not requested", always(options("windowsize", "64")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"other timeout", always(options("timeout", "255")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"negative size", always(options("tsize", "-1")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"size over 63 bits", always(options("tsize", "99999999999999999999")), "protocol", "", "\x00\x05\x00\x08transfer aborted\x00"},
		{"size over the limit", always(options("tsize", "99999999999")), "too-large", "", "\x00\x05\x00\x00transfer aborted\x00"},
		{"block over the limit", always(block(1, body[:513])), "protocol", "", "\x00\x05\x00\x04transfer aborted\x00"},
		{"block of another size than agreed", file("", 0, options("blksize", "600"), block(1, body[:601])), "protocol", "", "\x00\x05\x00\x04transfer aborted\x00"},
		{"same block for ever", always(block(1, body[:512])), "protocol", body[:512], ""},
		{"flood of old blocks", file(body, 512, append([][]byte{block(1, body[:512])}, repeat(block(1, body[:512]), 1100)...)...), "ok", body, ""},
		{"endless file", file(strings.Repeat("x", 2<<20), 512), "too-large", "*", "\x00\x05\x00\x00transfer aborted\x00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, sent := exchange(t, faultnet.Packets{Session: test.session}, func(o *fetch.Options) { o.Policy.MaxBody = 1 << 20 })
			if test.body == "*" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
			if last := string(sent[len(sent)-1]); test.last != "" && last != test.last {
				t.Errorf("sent %q, want %q", last, test.last)
			}
			if string(sent[0]) != request {
				t.Errorf("sent %q first", sent[0])
			}
		})
	}
}

func repeat(p []byte, n int) (all [][]byte) {
	for range n {
		all = append(all, p)
	}
	return all
}

// TestRefusedOptions checks that a request is repeated without options if the
// server refuses them.
func TestRefusedOptions(t *testing.T) {
	session := func() func([]byte) [][]byte {
		return func(p []byte) [][]byte {
			switch {
			case bytes.HasSuffix(p, []byte("octet\x00")):
				return [][]byte{block(1, "text")}
			case p[1] == 1:
				return [][]byte{failure(8, "no options")}
			}
			return nil
		}
	}
	r, sent := exchange(t, faultnet.Packets{Session: session})
	r.Check(t, "ok", "text", time.Second)
	if len(sent) != 3 {
		t.Errorf("sent %q", sent)
	}
}

// TestLoss retrieves a file over networks that lose, repeat and delay
// datagrams.
func TestLoss(t *testing.T) {
	body := strings.Repeat("0123456789", 3000)
	for name, fates := range map[string]func(seed uint64) faultnet.Fates{
		"lost":     func(seed uint64) faultnet.Fates { return faultnet.Sometimes(faultnet.Drop, 0.1, seed) },
		"repeated": func(seed uint64) faultnet.Fates { return faultnet.Sometimes(faultnet.Double, 0.3, seed) },
		"delayed":  func(seed uint64) faultnet.Fates { return faultnet.Sometimes(faultnet.Late, 0.1, seed) },
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				r, _ := exchange(t, faultnet.Packets{Session: file(body, 512), Requests: fates(2 * seed), Replies: fates(2*seed + 1)})
				r.Check(t, "ok", body, 10*time.Minute)
			})
		}
	}
}

// TestRollover checks the block numbers after 65535, which some servers continue
// at 1.
func TestRollover(t *testing.T) {
	if testing.Short() {
		t.Skip("transfers 65,536 blocks twice")
	}
	body := strings.Repeat("01234567", 65536*2) + "end"
	for _, first := range []int{0, 1} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			session := func() func([]byte) [][]byte {
				n := 0
				return func(p []byte) [][]byte {
					if p[1] == 1 {
						return [][]byte{options("blksize", "8")}
					}
					data := part(body, n, 8)
					number := n + 1
					if n++; number > 65535 {
						number = first + (number-65536)%(65536-first)
					}
					return [][]byte{block(number, data)}
				}
			}
			r, _ := exchange(t, faultnet.Packets{Session: session})
			if r.Err != nil || r.Body != body {
				t.Errorf("got %d bytes, %v, want %d", len(r.Body), r.Err, len(body))
			}
		})
	}
}

// TestAnyPort checks that answers are accepted from another port of the server,
// and not from other hosts, from a third port, or from a reserved port.
func TestAnyPort(t *testing.T) {
	t.Parallel()
	listen := func(host string) *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(host)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	server, answer, third, stranger := listen("127.0.0.1"), listen("127.0.0.1"), listen("127.0.0.1"), listen("127.0.0.2")
	body := strings.Repeat("x", 512) + "end"
	var tasks sync.WaitGroup
	tasks.Go(func() {
		p := make([]byte, 1000)
		_, from, err := server.ReadFromUDPAddrPort(p)
		if err != nil {
			t.Error(err)
			return
		}
		stranger.WriteToUDPAddrPort(block(1, "from a stranger"), from)
		answer.WriteToUDPAddrPort(block(1, body[:512]), from)
		third.WriteToUDPAddrPort(block(2, "from a third port"), from)
		stranger.WriteToUDPAddrPort(block(2, "from a stranger"), from)
		if n, _, err := answer.ReadFromUDPAddrPort(p); err != nil || string(p[:n]) != "\x00\x04\x00\x01" {
			t.Errorf("got %q, %v", p[:n], err)
		}
		answer.WriteToUDPAddrPort(block(2, "end"), from)
	})
	c := schemetest.NewClient(t, schemes(), func(o *fetch.Options) {
		o.Policy.Ports = []fetch.PortRule{{Port: netip.MustParseAddrPort(server.LocalAddr().String()).Port()}}
	})
	_, got, err := schemetest.Read(t, c, "tftp://"+server.LocalAddr().String()+"/f")
	if err != nil || got != body {
		t.Errorf("got %q, %v", got, err)
	}
	tasks.Wait()
}

// TestPlan checks the request for each form of URL.
func TestPlan(t *testing.T) {
	const opts = " tsize 0 blksize 1428 timeout 2"
	for url, want := range map[string]string{
		"tftp://h/f":                           "RRQ f octet" + opts,
		"tftp://h//etc/motd":                   "RRQ /etc/motd octet" + opts,
		"tftp://h/a%20b;mode=octet":            "RRQ a b octet" + opts,
		"tftp://h/a%3Bb;mode=octet":            "RRQ a;b octet" + opts,
		"tftp://h/f;Mode=NetASCII":             "RRQ f netascii" + opts,
		"tftp://h/f;mode=mail":                 "invalid-uri: parameter of a tftp URL must be ;mode=octet or ;mode=netascii",
		"tftp://h/f;x":                         "invalid-uri: parameter of a tftp URL must be ;mode=octet or ;mode=netascii",
		"tftp://h/":                            "invalid-uri: tftp URL must have a host and a file, such as tftp://HOST/FILE",
		"tftp:f":                               "invalid-uri: tftp URL must have a host and a file, such as tftp://HOST/FILE",
		"tftp://u@h/f":                         "invalid-uri: tftp URL must not have a user",
		"tftp://h/f?x":                         `invalid-uri: tftp URL must not have a query: write "?" as %3F`,
		"tftp://h/f%00octet%00x%001":           "invalid-uri: control character in a file name",
		"tftp://h/" + strings.Repeat("x", 480): "invalid-uri: file name is too long for a tftp request",
	} {
		if got := schemetest.Plan(schemes()[0], schemetest.NewRequest(t, url)); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
	for _, size := range []int{1, 7, 65465, -1} {
		s := tftp.Schemes(tftp.Options{BlockSize: size})[0]
		if got := schemetest.Plan(s, schemetest.NewRequest(t, "tftp://h/f")); got != "usage: block size of tftp must be from 8 to 65464" {
			t.Errorf("%d: got %q", size, got)
		}
	}
}

func TestNames(t *testing.T) { schemetest.Names(t, schemes(), "tftp://h.example/f") }

func TestSuite(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("The file of a boot server.\r\n", 4000)
	n := faultnet.NewNetwork(t)
	n.ServePackets("192.0.2.1:69", faultnet.Packets{Session: func() func([]byte) [][]byte {
		send, missing := file(text, 512)(), false
		return func(p []byte) [][]byte {
			if missing = missing || bytes.HasPrefix(p, []byte("\x00\x01none\x00")); missing {
				return [][]byte{failure(1, "none")}
			}
			return send(p)
		}
	}})
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: schemes, Options: fetch.Options{Dial: n.Dial},
		Document: "tftp://192.0.2.1/f", Body: []byte(text), Missing: "tftp://192.0.2.1/none",
		Rejected: []string{"tftp://192.0.2.1/f%00x", "tftp://192.0.2.1:53/f", "tftp://192.0.2.1:11211/f", "tftp://192.0.2.1/", "tftp:///f"},
		NoRanges: true,
	})
}
