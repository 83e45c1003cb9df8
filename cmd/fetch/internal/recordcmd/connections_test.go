package recordcmd_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
)

// TestConnections opens many connections of one client to a proxy for other
// machines. They must not keep another client from using the proxy.
func TestConnections(t *testing.T) {
	r := start(t, newDir(t), "--warc", "x.warc.gz", "--public")
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c, err := other.Dial("tcp", r.address)
	if err != nil {
		t.Skipf("this system has only one loopback address: %v", err)
	}
	c.Close()
	for range 256 {
		c, err := net.Dial("tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if c, err = other.Dial("tcp", r.address); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusProxyAuthRequired {
		t.Errorf("status %s", resp.Status)
	}
	r.stop(syscall.SIGTERM)
}
