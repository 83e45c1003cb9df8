package nfs_test

import (
	"bufio"
	"net"
	"os"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/nfs"
)

func TestNames(t *testing.T) {
	schemetest.Names(t, nfs.Schemes(nfs.Options{}), "nfs://nowhere.example/x")
}

func TestProxy(t *testing.T) {
	schemes := func() []fetch.Scheme { return nfs.Schemes(nfs.Options{}) }
	short := publicServer()
	short[6] = func(*oncrpc.Decoder) (uint32, []byte) { return 0, append(numbers(0, 0, 26, 1), opaque("hel")...) }
	cut := procedures{1: publicServer()[1], 3: publicServer()[3]}
	calls := 0
	cut[6] = func(d *oncrpc.Decoder) (uint32, []byte) {
		if calls++; calls > 1 {
			return 0, append(numbers(0, 0, 0, 1), opaque("")...)
		}
		return publicServer()[6](d)
	}
	schemetest.Tunnel{Schemes: schemes, URL: host + "pub/a%20b", Address: "192.0.2.1:2049",
		Answer: faultnet.Script{publicServer().serve()}, Body: "hello, public file handle\n",
		Cut: faultnet.Script{cut.serve()}, CutBody: "hello, pub"}.Run(t)
}

// TestReservedPort checks that a request is repeated from a reserved port if the
// server denies access to other ports.
func TestReservedPort(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("reserved ports need root")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var ports []bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reserved := c.RemoteAddr().(*net.TCPAddr).Port < 1024
			ports = append(ports, reserved)
			if reserved {
				publicServer().answerConn(c)
			} else if record, err := oncrpc.ReadRecord(bufio.NewReader(c), nil, 1<<16); err == nil {
				xid := oncrpc.NewDecoder(record).Uint32()
				c.Write(numbers(1<<31|20, xid, 1, 1, 1, 5)) // the authentication is too weak
			}
			c.Close()
		}
	}()
	c := schemetest.NewClient(t, nfs.Schemes(nfs.Options{}), func(o *fetch.Options) {
		o.Policy.Ports = []fetch.PortRule{{Port: uint16(l.Addr().(*net.TCPAddr).Port)}}
	})
	_, body, err := schemetest.Read(t, c, "nfs://"+l.Addr().String()+"/pub/a%20b")
	c.Close()
	l.Close()
	<-done
	if err != nil || body != "hello, public file handle\n" || len(ports) != 2 || ports[0] || !ports[1] {
		t.Errorf("got %q, %v, from reserved ports: %v", body, err, ports)
	}
}
