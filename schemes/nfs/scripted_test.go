package nfs_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/nfs"
)

// A procedure of a scripted server returns the status of RPC and the results.
type procedure func(args *oncrpc.Decoder) (status uint32, results []byte)

// procedures maps numbers of procedures of NFS to their scripts.
type procedures map[uint32]procedure

// serve returns a step that answers calls of NFS. Other programs are not available.
func (p procedures) serve() faultnet.Step { return faultnet.Do("serve nfs", p.answer) }

func (p procedures) answer(c *faultnet.Conn) error { return p.answerConn(c) }

func (p procedures) answerConn(c io.ReadWriter) error { return p.answerProgram(c, 100003) }

// answerProgram answers calls of one program.
func (p procedures) answerProgram(c io.ReadWriter, number uint32) error {
	in := bufio.NewReader(c)
	for {
		record, err := oncrpc.ReadRecord(in, nil, 1<<16)
		if err != nil {
			return nil
		}
		d := oncrpc.NewDecoder(record)
		xid := d.Uint32()
		d.Fixed(4 * 2)
		program, _, procedure := d.Uint32(), d.Uint32(), d.Uint32()
		d.Uint32()
		d.Opaque(400)
		d.Fixed(8)
		status, results := uint32(1), []byte(nil)
		if do := p[procedure]; do != nil && program == number {
			status, results = do(d)
		}
		if _, err := c.Write(reply(xid, status, results)); err != nil {
			return nil
		}
	}
}

// reply returns a record with a reply.
func reply(xid, status uint32, results []byte) []byte {
	b := numbers(0, xid, 1, 0, 0, 0, status)
	b = append(b, results...)
	binary.BigEndian.PutUint32(b, 1<<31|uint32(len(b)-4))
	return b
}

func numbers(all ...uint32) (b []byte) {
	for _, v := range all {
		b = oncrpc.AppendUint32(b, v)
	}
	return b
}

// attributes returns the attributes of a file with a type and a size.
func attributes(kind uint32, size uint64) []byte {
	b := numbers(kind, 0o644, 1, 0, 0)
	b = oncrpc.AppendUint64(b, size)
	b = append(b, make([]byte, 8+8+8)...)
	b = oncrpc.AppendUint64(b, 7)
	return append(b, numbers(0, 0, 1e9, 5, 1e9, 6)...)
}

// always returns a procedure that succeeds with the given results.
func always(results ...[]byte) procedure {
	var all []byte
	for _, r := range results {
		all = append(all, r...)
	}
	return func(*oncrpc.Decoder) (uint32, []byte) { return 0, all }
}

func opaque(s string) []byte { return oncrpc.AppendOpaque(nil, s) }

// publicServer has a public file handle and one file, "/pub/a b", and links to
// it and out of it.
func publicServer() procedures {
	const file = "hello, public file handle\n"
	kinds := map[string]uint32{"": 2, "pub/a b": 1, "/pub/a b": 1, "pub/link": 5, "pub/up": 5, "pub/absolute": 5, "pub": 2}
	targets := map[string]string{"pub/link": "../pub/./a b", "pub/up": "../../etc/passwd", "pub/absolute": "/etc/passwd"}
	return procedures{
		1: func(d *oncrpc.Decoder) (uint32, []byte) {
			return 0, append(numbers(0), attributes(kinds[string(d.Opaque(64))], uint64(len(file)))...)
		},
		3: func(d *oncrpc.Decoder) (uint32, []byte) {
			dir, name := string(d.Opaque(64)), string(d.Opaque(1024))
			if dir != "" || kinds[name] == 0 {
				return 0, append(numbers(2), numbers(0)...)
			}
			return 0, append(append(numbers(0), opaque(name)...), numbers(0, 0)...)
		},
		5: func(d *oncrpc.Decoder) (uint32, []byte) {
			return 0, append(numbers(0, 0), opaque(targets[string(d.Opaque(64))])...)
		},
		6: func(d *oncrpc.Decoder) (uint32, []byte) {
			d.Opaque(64)
			offset, count := min(d.Uint64(), uint64(len(file))), uint64(d.Uint32())
			data := file[offset:min(offset+count, offset+10, uint64(len(file)))] // short replies
			return 0, append(numbers(0, 0, uint32(len(data)), 0), opaque(data)...)
		},
		17: always(numbers(0, 0, 0, 0), numbers(1, 0, 1), opaque("a b"), numbers(0, 9, 1), attributes(1, 26), numbers(0),
			numbers(1, 0, 2), opaque("../evil"), numbers(0, 10, 0, 0), numbers(1, 0, 3), opaque("link"), numbers(0, 11, 1), attributes(5, 3), numbers(1), opaque("pub/link"), numbers(0, 1)),
	}
}

// TestPublicHandle uses the public file handle (RFC 2055).
func TestPublicHandle(t *testing.T) {
	for url, want := range map[string]string{
		host + "pub/a%20b":    "hello, public file handle\n",
		host + "/pub/a%20b":   "hello, public file handle\n",
		host + "pub/link":     "hello, public file handle\n",
		host + "pub/up":       "server-perm",
		host + "pub/absolute": "server-perm",
		host + "pub/none":     "not-found",
	} {
		c, _ := serve(t, faultnet.Script{publicServer().serve()})
		_, body, err := schemetest.Read(t, c, url)
		if err != nil {
			body = fetch.FaultOf(err).String()
		}
		if body != want {
			t.Errorf("%s: got %q, %v, want %q", url, body, err, want)
		}
	}
	c, _ := serve(t, faultnet.Script{publicServer().serve()})
	all, err := schemetest.List(t, c, host+"pub")
	if err != nil || len(all) != 2 || all[0].URL.String() != host+"pub/a%20b" || all[1].URL.String() != host+"pub/link" || all[1].Extra["link"] != "../pub/./a b" || all[1].Size != 26 {
		t.Errorf("got %+v, %v", all, err)
	}
}

// TestReaddir lists a directory of a server without READDIRPLUS.
func TestReaddir(t *testing.T) {
	for name, replace := range map[string]procedure{"not supported": always(numbers(10004, 0)), "no such procedure": nil} {
		p := publicServer()
		p[17] = replace
		p[16] = always(numbers(0, 0, 0, 0), numbers(1, 0, 1), opaque("a b"), numbers(0, 9), numbers(1, 0, 2), opaque("none"), numbers(0, 10, 0, 1))
		c, _ := serve(t, faultnet.Script{p.serve()})
		all, err := schemetest.List(t, c, host+"pub/")
		if err != nil || len(all) != 2 || all[0].URL.String() != host+"pub/a%20b" || all[0].Size != 26 || all[1].Kind != fetch.Info {
			t.Errorf("%s: got %+v, %v", name, all, err)
		}
	}
}

// TestStale mounts an export again after the server has forgotten its handle.
func TestStale(t *testing.T) {
	stale := publicServer()
	stale[3] = always(numbers(70, 0))
	c, s := serve(t, faultnet.Script{stale.serve()}, faultnet.Script{publicServer().serve()})
	if _, _, err := schemetest.Read(t, c, host+"pub/a%20b"); fetch.FaultOf(err) != fetch.TryLater {
		t.Errorf("got %v", err)
	}
	if _, body, err := schemetest.Read(t, c, host+"pub/a%20b"); err != nil || body != "hello, public file handle\n" || len(s.Conns()) != 2 {
		t.Errorf("second request: got %q, %v, %d connections", body, err, len(s.Conns()))
	}
}

// TestFaults checks the fault and the time limit for each error of a server or
// the network.
func TestFaults(t *testing.T) {
	const soon = time.Second
	file := func(read procedure) procedures {
		p := publicServer()
		p[6] = read
		return p
	}
	directory := func(read procedure) procedures {
		p := publicServer()
		p[17] = read
		return p
	}
	record := func(s string) faultnet.Step { return faultnet.Send(s) }
	sized := func(size uint64, kind uint32) procedures {
		p := publicServer()
		p[1] = always(numbers(0), attributes(kind, size))
		return p
	}
	entry := append(numbers(1, 0, 1), append(opaque("x"), numbers(0, 9, 0, 0)...)...)
	const path = "pub/a%20b"
	for _, c := range []struct {
		name, path  string
		script      faultnet.Script
		fault, body string
		took        time.Duration
	}{
		{"refused", path, faultnet.Script{faultnet.Refuse()}, "connect", "", soon},
		{"closed without an answer", path, faultnet.Script{faultnet.Expect("(?s)^.+$")}, "connect", "", soon},
		{"a line of text", path, faultnet.Script{faultnet.Expect("(?s)^.+$"), record("HTTP/1.1 400 Bad Request\r\n\r\n")}, "protocol", "", soon},
		{"2 GiB announced", path, faultnet.Script{faultnet.Expect("(?s)^.+$"), record("\xff\xff\xff\xff")}, "protocol", "", soon},
		{"endless empty fragments", path, faultnet.Script{faultnet.Expect("(?s)^.+$"), record(strings.Repeat("\x00\x00\x00\x00", 5000))}, "protocol", "", soon},
		{"reply to another call", path, faultnet.Script{faultnet.Expect("(?s)^.+$"), record(string(reply(1, 0, nil)))}, "protocol", "", soon},
		{"empty results", path, faultnet.Script{procedures{1: always()}.serve()}, "protocol", "", soon},
		{"oversized handle", path, faultnet.Script{procedures{1: publicServer()[1], 3: always(numbers(0), opaque(strings.Repeat("x", 65)), numbers(0, 0))}.serve()}, "protocol", "", soon},
		{"read larger than the file", path, faultnet.Script{file(always(numbers(0, 0, 500, 1), opaque(strings.Repeat("x", 500)))).serve()}, "protocol", "", soon},
		{"read with a wrong count", path, faultnet.Script{file(always(numbers(0, 0, 9, 1), opaque("x"))).serve()}, "protocol", "", soon},
		{"read of nothing", path, faultnet.Script{file(always(numbers(0, 0, 0, 0), opaque(""))).serve()}, "protocol", "", soon},
		{"file ends early", path, faultnet.Script{file(always(numbers(0, 0, 3, 1), opaque("abc"))).serve()}, "truncated", "", soon},
		{"read fails", path, faultnet.Script{file(always(numbers(5, 0))).serve()}, "server-temp", "", soon},
		{"file changed", path, faultnet.Script{file(always(numbers(0, 1), attributes(1, 27), numbers(26, 1), opaque("hello, public file handle\n"))).serve()}, "integrity", "", soon},
		{"socket", path, faultnet.Script{sized(1, 6).serve()}, "server-perm", "", soon},
		{"type of file unknown", path, faultnet.Script{sized(1, 99).serve()}, "server-perm", "", soon},
		{"file of 16 EiB", path, faultnet.Script{sized(1<<64-1, 1).serve()}, "protocol", "", soon},
		{"directory without end", "pub", faultnet.Script{directory(always(numbers(0, 0, 0, 0), entry, numbers(0, 0))).serve()}, "protocol", "", soon},
		{"directory without entries or end", "pub", faultnet.Script{directory(always(numbers(0, 0, 0, 0, 0, 0))).serve()}, "protocol", "", soon},
		{"directory denied", "pub", faultnet.Script{directory(always(numbers(13, 0))).serve()}, "server-perm", "", soon},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, s := serve(t, c.script)
			r := schemetest.Exchange(t.Context(), client, schemetest.NewRequest(t, host+c.path))
			if c.path == "pub" && r.Fault() == c.fault {
				return // a listing may have entries before the error
			}
			r.Check(t, c.fault, c.body, c.took)
			client.Close()
			s.Close()
		})
	}
}

// TestPortmapper finds the MOUNT service. The portmapper cannot lead to another
// host, nor to a port below 1024.
func TestPortmapper(t *testing.T) {
	portmapper := func(port uint32) faultnet.Script {
		return faultnet.Script{faultnet.Do("portmapper", func(c *faultnet.Conn) error {
			record, err := oncrpc.ReadRecord(bufio.NewReader(c), nil, 1<<16)
			if err == nil {
				xid, _ := oncrpc.XIDOf(append(record[:4:4], 0, 0, 0, 1))
				_, err = c.Write(reply(xid, 0, numbers(port)))
			}
			return err
		})}
	}
	for port, want := range map[uint32]string{0: "unsupported", 25: "policy-port", 70000: "unsupported", 892: "policy-port", 20048: "connect"} {
		n := faultnet.NewNetwork(t)
		n.Serve("192.0.2.1:2049", faultnet.Script{procedures{}.serve()}, faultnet.Script{procedures{}.serve()})
		n.Serve("192.0.2.1:111", portmapper(port), portmapper(port))
		n.Serve("192.0.2.1:20048", faultnet.Script{faultnet.Refuse()})
		c := schemetest.NewClient(t, nfs.Schemes(nfs.Options{}), func(o *fetch.Options) { o.Dial = n.Dial })
		_, _, err := schemetest.Read(t, c, host+"x")
		if fetch.FaultOf(err).String() != want {
			t.Errorf("port %d: got %v, want %s", port, err, want)
		}
		if got := override.Of(err); want == "policy-port" && got != (override.Setting{Kind: nfs.OverrideMountPort, Value: fmt.Sprint(port)}) {
			t.Errorf("port %d: the error names the setting %q", port, got)
		}
	}
}

// TestUser checks the identity in calls.
func TestUser(t *testing.T) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("192.0.2.1:2049", faultnet.Script{publicServer().serve()})
	c := schemetest.NewClient(t, nfs.Schemes(nfs.Options{User: &nfs.User{UID: 1000, GID: 100}}), func(o *fetch.Options) { o.Dial = n.Dial })
	if _, _, err := schemetest.Read(t, c, host+"pub/a%20b"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if sent := string(s.Conns()[0].All()); !strings.Contains(sent, string(numbers(1, 20, 0, 0, 1000, 100, 0))) {
		t.Errorf("sent %q", sent)
	}
}
