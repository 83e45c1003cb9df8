package faultnet

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

func TestTLS(t *testing.T) {
	certs := NewCerts(t, "h.test", "192.0.2.1")
	for _, c := range []struct {
		name   string
		script Script
		hear   string
		err    func(error) bool // checks the error of the handshake or of Read
	}{
		{"good", Script{Expect("STARTTLS\n"), Send("go\n"), certs.TLS(), Expect("^x$"), Send("secret")}, "secret", nil},
		{"cut within", Script{Expect("STARTTLS\n"), Send("go\n"), certs.TLS(), Expect("^x$"), Send("secret"), Cut()}, "secret",
			nil}, // crypto/tls accepts a missing alert between two records
		{"wrong host", Script{Expect("STARTTLS\n"), Send("go\n"), certs.WrongHost()}, "", is[x509.HostnameError]},
		{"expired", Script{Expect("STARTTLS\n"), Send("go\n"), certs.Expired()}, "",
			func(err error) bool {
				var e x509.CertificateInvalidError
				return errors.As(err, &e) && e.Reason == x509.Expired
			}},
		{"self-signed", Script{Expect("STARTTLS\n"), Send("go\n"), certs.SelfSigned()}, "", is[x509.UnknownAuthorityError]},
		{"stall", Script{Expect("STARTTLS\n"), Send("go\n"), TLSStall()}, "",
			func(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }},
		{"cut", Script{Expect("STARTTLS\n"), Send("go\n"), TLSCut()}, "",
			func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"no TLS", Script{Expect("STARTTLS\n"), Send("go\n"), Send("what?\r\n"), Stall()}, "", is[tls.RecordHeaderError]},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, w world) {
				s := w.start(t, c.script)
				conn := s.connect(t)
				io.WriteString(conn, "STARTTLS\n")
				if _, err := io.ReadFull(conn, make([]byte, 3)); err != nil {
					t.Fatal(err)
				}
				if c.name == "stall" { // the other cases end without a deadline
					conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
				}
				inner := tls.Client(conn, &tls.Config{ServerName: "h.test", RootCAs: certs.Pool})
				_, err := io.WriteString(inner, "x")
				hear, readErr := io.ReadAll(inner)
				if err == nil {
					err = readErr
				}
				if string(hear) != c.hear || c.err == nil && err != nil || c.err != nil && !c.err(err) {
					t.Errorf("heard %q, error %v (%T)", hear, err, err)
				}
				conn.Close()
				if c.hear != "" {
					if got := string(s.Conns()[0].All()); got != "STARTTLS\nx" {
						t.Errorf("record %q", got)
					}
				}
				s.Close()
				if err := s.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestCutOmitsTheAlert: Cut sends exactly one record less than Fin.
func TestCutOmitsTheAlert(t *testing.T) {
	certs := NewCerts(t, "h.test")
	each(t, func(t *testing.T, w world) {
		var sizes []int
		for _, end := range []Step{Cut(), Fin()} {
			s := w.start(t, Script{certs.TLS(), Send("secret"), end})
			conn := &counted{Conn: s.connect(t)}
			inner := tls.Client(conn, &tls.Config{ServerName: "h.test", RootCAs: certs.Pool, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true})
			if got, err := io.ReadAll(inner); string(got) != "secret" || err != nil {
				t.Errorf("%s: %q, %v", end, got, err)
			}
			sizes = append(sizes, conn.read)
			conn.Close()
		}
		const alert = 5 + 2 + 1 + 16                                    // header, alert, type, tag: RFC 8446 5.2
		if got := sizes[1] - sizes[0]; got < alert-8 || got > alert+8 { // signatures vary by some bytes
			t.Errorf("fin sends %d bytes more than cut, want %d", got, alert)
		}
	})
}

type counted struct {
	net.Conn
	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read += n
	return n, err
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
