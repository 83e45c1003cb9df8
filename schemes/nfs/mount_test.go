package nfs_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/nfs"
)

// exportServer has the file "f" in the exported directory /srv. It fails the
// test if it receives the public file handle, at which the server unfs3 exits.
func exportServer(t *testing.T) procedures {
	return procedures{
		1: func(d *oncrpc.Decoder) (uint32, []byte) {
			kind := map[string]uint32{"srv": 2, "file": 1}[string(d.Opaque(64))]
			if kind == 0 {
				t.Error("the public file handle was tried")
				return 0, numbers(10001)
			}
			return 0, append(numbers(0), attributes(kind, 5)...)
		},
		3: always(numbers(0), opaque("file"), numbers(0, 0)),
		6: always(numbers(0, 0, 5, 1), opaque("text\n")),
	}
}

// mountService is the MOUNT service of exportServer.
func mountService() procedures {
	return procedures{
		1: always(numbers(0), opaque("srv"), numbers(0)),
		5: always(numbers(1), opaque("/srv"), numbers(0, 0)),
	}
}

// TestMountPort uses a configured MOUNT service. Its port may be below 1024. The
// public file handle is not tried.
func TestMountPort(t *testing.T) {
	for _, port := range []uint16{892, 20048} {
		n := faultnet.NewNetwork(t)
		n.Serve("192.0.2.1:2049", faultnet.Script{faultnet.Do("serve nfs", func(c *faultnet.Conn) error {
			return exportServer(t).answerConn(c)
		})})
		n.Serve(fmt.Sprintf("192.0.2.1:%d", port), faultnet.Script{faultnet.Do("serve mount", func(c *faultnet.Conn) error {
			return mountService().answerProgram(c, 100005)
		})})
		c := schemetest.NewClient(t, nfs.Schemes(nfs.Options{MountPort: port}), func(o *fetch.Options) { o.Dial = n.Dial })
		if _, body, err := schemetest.Read(t, c, host+"srv/f"); err != nil || body != "text\n" {
			t.Errorf("port %d: got %q, %v", port, body, err)
		}
	}
}

// TestMountReservedPort checks that the MOUNT service is called from a reserved
// port too, if it denies access to other ports.
func TestMountReservedPort(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("reserved ports need root")
	}
	var refused atomic.Int32
	mount := func(c net.Conn) error {
		p := mountService()
		if c.RemoteAddr().(*net.TCPAddr).Port >= 1024 {
			p[1] = func(*oncrpc.Decoder) (uint32, []byte) { refused.Add(1); return 0, numbers(13) }
		}
		return p.answerProgram(c, 100005)
	}
	file := func(c net.Conn) error { return exportServer(t).answerConn(c) }
	mountAddr, nfsAddr := listen(t, mount), listen(t, file)
	c := schemetest.NewClient(t, nfs.Schemes(nfs.Options{MountPort: portOf(mountAddr)}), func(o *fetch.Options) {
		o.Policy.Ports = []fetch.PortRule{{Port: portOf(nfsAddr)}}
	})
	_, body, err := schemetest.Read(t, c, "nfs://"+nfsAddr+"/srv/f")
	c.Close()
	if err != nil || body != "text\n" || refused.Load() != 1 {
		t.Errorf("got %q, %v, %d refusals", body, err, refused.Load())
	}
}

// TestSlowPath checks that a server cannot hold a request open with slow replies
// to the thousands of calls for a long path.
func TestSlowPath(t *testing.T) {
	for name, test := range map[string]struct{ slow uint32 }{"names": {3}, "links": {5}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := exportServer(t)
				p[3] = func(d *oncrpc.Decoder) (uint32, []byte) { // each name is a directory, and "link" is a link
					d.Opaque(64)
					kind := uint32(2)
					if string(d.Opaque(1024)) == "link" {
						kind = 5
					}
					return 0, slices.Concat(numbers(0), opaque("srv"), numbers(1), attributes(kind, 0), numbers(0))
				}
				p[5] = always(numbers(0, 0), opaque(strings.Repeat("x/", 200)+"link"))
				quick := p[test.slow]
				p[test.slow] = func(d *oncrpc.Decoder) (uint32, []byte) { time.Sleep(50 * time.Second); return quick(d) }
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:2049", faultnet.Script{p.serve()})
				m := n.Serve("192.0.2.1:892", faultnet.Script{faultnet.Do("serve mount", func(c *faultnet.Conn) error {
					return mountService().answerProgram(c, 100005)
				})})
				c := schemetest.NewClient(t, nfs.Schemes(nfs.Options{MountPort: 892}), func(o *fetch.Options) { o.Dial = n.Dial })
				start := time.Now()
				_, _, err := schemetest.Read(t, c, host+"srv/"+strings.Repeat("x/", 200)+"link")
				if took := time.Since(start); fetch.FaultOf(err) != fetch.Timeout || took > 10*time.Minute {
					t.Errorf("after %v: %v", took, err)
				}
				c.Close()
				synctest.Wait()
				s.Close()
				m.Close()
			})
		})
	}
}

// TestMountPlan checks the plan for a configured MOUNT service.
func TestMountPlan(t *testing.T) {
	for port, want := range map[uint16]string{0: "getattr", 892: "mount"} {
		steps, err := nfs.Schemes(nfs.Options{MountPort: port})[0].Plan(schemetest.NewRequest(t, host+"srv/f"))
		if err != nil || steps[0].Verb != want {
			t.Errorf("port %d: got %v, %v, want %s", port, steps, err, want)
		}
	}
}

// listen serves each connection on loopback with the function serve.
func listen(t *testing.T, serve func(net.Conn) error) (addr string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				if err := serve(c); err != nil && err != io.EOF && !strings.Contains(err.Error(), "closed") {
					t.Errorf("server: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

func portOf(addr string) uint16 {
	var p uint16
	fmt.Sscanf(addr[strings.LastIndexByte(addr, ':')+1:], "%d", &p)
	return p
}
