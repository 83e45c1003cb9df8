package tftp_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/tftp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func random(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// TestTftpd retrieves files from a real server, with and without options.
func TestTftpd(t *testing.T) {
	t.Parallel()
	for _, server := range []struct {
		name    string
		args    []string
		options tftp.Options
		sized   bool
	}{
		{"options", nil, tftp.Options{}, true},
		{"smallest blocks", nil, tftp.Options{BlockSize: 8}, true},
		{"largest blocks", nil, tftp.Options{BlockSize: 65464}, true},
		{"server with smaller blocks", []string{"--blocksize", "600"}, tftp.Options{}, true},
		{"server without block sizes", []string{"--refuse", "blksize"}, tftp.Options{}, true},
		{"server without sizes", []string{"--refuse", "tsize"}, tftp.Options{}, false},
		{"no options", nil, tftp.Options{NoOptions: true}, false},
	} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			s := peer.Tftpd(t, server.args...)
			c := schemetest.NewClient(t, tftp.Schemes(server.options))
			for _, size := range []int{0, 1, 7, 8, 511, 512, 513, 1427, 1428, 1429, 70_000} {
				body := random(size)
				s.Put("dir/file", body)
				resp, got, err := schemetest.Read(t, c, "tftp://"+s.Addr+"/dir/file")
				if err != nil || got != string(body) {
					t.Fatalf("%d bytes: got %d bytes, %v", size, len(got), err)
				}
				if server.sized && size > 0 && resp.Size != int64(size) {
					t.Errorf("%d bytes: got size %d", size, resp.Size)
				}
			}
			_, _, err := schemetest.Read(t, c, "tftp://"+s.Addr+"/none")
			if fetch.FaultOf(err) != fetch.NotFound {
				t.Errorf("missing file: got %v", err)
			}
		})
	}
}

// TestModes retrieves a text in both modes, and a file with an absolute path.
func TestModes(t *testing.T) {
	t.Parallel()
	s := peer.Tftpd(t)
	text := strings.Repeat("line\r one\n\r\ntwo\n", 1000)
	s.Put("text", []byte(text))
	c := schemetest.NewClient(t, tftp.Schemes(tftp.Options{}))
	for _, path := range []string{"/text", "//text", "/text;mode=octet", "/text;mode=netascii", "/te%78t;MODE=NETASCII"} {
		_, got, err := schemetest.Read(t, c, "tftp://"+s.Addr+path)
		if err != nil || got != text {
			t.Errorf("%s: got %d bytes, %v, want %d", path, len(got), err, len(text))
		}
	}
}

// TestStat requests the size of a file without the file.
func TestStat(t *testing.T) {
	t.Parallel()
	s := peer.Tftpd(t)
	s.Put("file.txt", make([]byte, 100_000))
	c := schemetest.NewClient(t, tftp.Schemes(tftp.Options{}))
	req := schemetest.NewRequest(t, "tftp://"+s.Addr+"/file.txt")
	req.Op = fetch.Stat
	resp, body, err := schemetest.ReadRequest(t, c, req)
	if err != nil || resp.Size != 100_000 || resp.Media != "text/plain" || body != "" {
		t.Errorf("got %+v, %q, %v", resp, body, err)
	}
}

// TestWrap retrieves a file with more blocks than block numbers.
func TestWrap(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil} {
		s := peer.Tftpd(t, args...)
		body := random(8*65536*2 + 5)
		s.Put("file", body)
		c := schemetest.NewClient(t, tftp.Schemes(tftp.Options{BlockSize: 8}), func(o *fetch.Options) { o.Policy.MinRate = -1 })
		_, got, err := schemetest.Read(t, c, "tftp://"+s.Addr+"/file")
		if err != nil || !bytes.Equal([]byte(got), body) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	}
}
