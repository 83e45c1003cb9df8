package tftp

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// FuzzRequest checks that no URL adds a field to the request.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{"f", "/f;mode=netascii", "a%00b", "%", ";mode=", "a;mode=octet;x"} {
		f.Add("tftp://h/" + path)
	}
	f.Fuzz(func(t *testing.T, url string) {
		u, err := uri.Parse(url)
		if err != nil {
			return
		}
		l, err := locate(u)
		if err != nil {
			if fetch.FaultOf(err) != fetch.BadURL {
				t.Errorf("got %v", err)
			}
			return
		}
		q, err := Options{}.request(l, true)
		if err == nil && bytes.Count(q.append(nil)[2:], []byte{0}) != 2 {
			t.Errorf("%q", q.append(nil))
		}
	})
}

// A datagrams is a connection that receives the datagrams of a fuzzer.
type datagrams struct {
	net.Conn
	all [][]byte
}

func (d *datagrams) Read(p []byte) (int, error) {
	if len(d.all) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, d.all[0])
	d.all = d.all[1:]
	return n, nil
}

func (d *datagrams) Write(p []byte) (int, error)     { return len(p), nil }
func (d *datagrams) SetReadDeadline(time.Time) error { return nil }

// FuzzTransfer checks that a transfer ends, with at most the data of the server.
func FuzzTransfer(f *testing.F) {
	for _, s := range []string{"\x00\x06blksize\x008\x00|\x00\x03\x00\x0112345678|\x00\x03\x00\x02", "\x00\x03\x00\x01end", "\x00\x05\x00\x01no\x00", "|\x00|\x00\x03"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		tr := newTransfer(&datagrams{all: bytes.Split(p, []byte("|"))}, request{locator: locator{"f", "octet"}, options: true, block: 1428})
		err := tr.start()
		var data []byte
		if err == nil {
			data, err = io.ReadAll(tr)
		}
		if err != nil && fetch.FaultOf(err) == fetch.Internal || len(data) > len(p) {
			t.Errorf("%q: got %d bytes, %v", p, len(data), err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\r\n") {
			t.Errorf("%q", err)
		}
	})
}

// FuzzNetascii checks that the result does not depend on the sizes of the reads.
func FuzzNetascii(f *testing.F) {
	for _, s := range []string{"a\r\nb", "a\r\x00b", "\r", "\r\r\n", "\rx\x00", "\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		want, err := io.ReadAll(&netascii{r: bytes.NewReader(p)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(iotest.OneByteReader(&netascii{r: iotest.OneByteReader(bytes.NewReader(p))}))
		if err != nil || !bytes.Equal(got, want) || len(want) > len(p) {
			t.Errorf("%q: got %q, %v, want %q", p, got, err, want)
		}
	})
}

func TestNetascii(t *testing.T) {
	for in, want := range map[string]string{"a\r\nb": "a\nb", "a\r\x00b": "a\rb", "\r": "\r", "\r\r\n": "\r\n", "\rx\x00": "\rx\x00", "\n": "\n", "": "", "\r\x00\r\n": "\r\n"} {
		if got, err := io.ReadAll(&netascii{r: strings.NewReader(in)}); err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}
