package sftp_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

// TestLongTexts checks that the text of a server does not fill a terminal with an
// error.
func TestLongTexts(t *testing.T) {
	const limit = 700
	rejecting := newServer(t, nil)
	for _, test := range []struct {
		name  string
		serve func(net.Conn)
		want  string
	}{
		{"rejected channel", func(conn net.Conn) { rejectChannels(rejecting, conn) }, `server opens no channel: ssh: rejected: administratively prohibited (`},
		{"algorithms", func(conn net.Conn) {
			conn.Write([]byte("SSH-2.0-x\r\n"))
			conn.Write(kexInit(strings.Repeat("\x1b[2J,", 1000) + "x"))
			io.Copy(io.Discard, conn)
		}, `the server supports no common algorithm for key exchange, but \x1b[2J`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := schemetest.NewClient(t, sftp.Schemes(rejecting.options()), func(o *fetch.Options) {
				o.Dial = func(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
					near, far := faultnet.Pipe(netip.MustParseAddrPort("192.0.2.254:40000"), to)
					go func() {
						defer far.Close()
						test.serve(far)
					}()
					return near, nil
				}
			})
			_, err := c.Get(t.Context(), "sftp://alice:s3cret@192.0.2.1/a")
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); len(text) > limit || !strings.Contains(text, test.want) {
				t.Errorf("error of %d bytes: %.200q", len(text), text)
			}
		})
	}
}

// rejectChannels rejects the channels of a client with a long text.
func rejectChannels(s *server, conn net.Conn) {
	config := s.config
	config.AddHostKey(s.keys[0])
	_, channels, requests, err := ssh.NewServerConn(conn, &config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		c.Reject(ssh.Prohibited, strings.Repeat("\x1b[2J", 5000))
	}
}

// kexInit returns the packet that offers the algorithms in a list for all
// purposes (RFC 4253 section 7.1).
func kexInit(algorithms string) []byte {
	payload := append([]byte{20}, make([]byte, 16)...)
	for range 10 {
		payload = append(payload, str(algorithms)...)
	}
	payload = append(payload, 0, 0, 0, 0, 0)
	padding := 16 - (len(payload)+5)%8
	packet := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+padding))
	packet = append(append(packet, byte(padding)), payload...)
	return append(packet, make([]byte, padding)...)
}
