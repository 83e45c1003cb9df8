package sftp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

// TestLibraryServer retrieves from a server without the extensions of OpenSSH,
// which answers requests in another order.
func TestLibraryServer(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "sub/data.bin", big)
	write(t, dir, "empty", nil)
	s := newServer(t, library(dir))
	root := "sftp://alice:s3cret@192.0.2.1" + dir
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return sftp.Schemes(s.options()) },
		Options:  fetch.Options{Dial: s.dial},
		Document: root + "/sub/data.bin", Body: big, Missing: root + "/nosuch", Menu: root + "/", Names: []string{"sub", "empty"},
	})
}

// str returns a string as SFTP encodes it.
func str(s string) string { return u32(len(s)) + s }

func u32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func u64(n int) string { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }

// TestHostile checks how replies of unusual and hostile servers are reported.
// Time is fake.
func TestHostile(t *testing.T) {
	const id = "...."
	ok := "\x65" + id + u32(0) + str("") + str("")
	eof := "\x65" + id + u32(1)
	file := "\x69" + id + u32(5) + u64(10) + u32(0o100644)
	dir := "\x69" + id + u32(4) + u32(0o40755)
	handle := "\x66" + id + str("h")
	name := func(n string) string { return str(n) + str("-rw- "+n) + u32(5) + u64(3) + u32(0o100644) }
	for _, test := range []struct {
		name        string
		path        string
		replies     map[byte]string // by type of request; "close" closes the channel
		fault, body string
	}{
		{"file", "/a", map[byte]string{5: "\x67" + id + str("0123456789")}, "ok", "0123456789"},
		{"data in two pieces", "/a", map[byte]string{5: "\x67" + id + str("01234")}, "ok", "0123401234"},
		{"file that ends early", "/a", map[byte]string{5: eof}, "truncated", ""},
		{"too much data", "/a", map[byte]string{5: "\x67" + id + str("0123456789a")}, "protocol", ""},
		{"no data", "/a", map[byte]string{5: "\x67" + id + str("")}, "protocol", ""},
		{"data with a wrong length", "/a", map[byte]string{5: "\x67" + id + u32(5) + "0123456789"}, "protocol", ""},
		{"data without a length", "/a", map[byte]string{5: "\x67" + id}, "protocol", ""},
		{"read error", "/a", map[byte]string{5: "\x65" + id + u32(4) + str("disk") + str("en")}, "server-perm", ""},
		{"status ok in place of data", "/a", map[byte]string{5: ok}, "protocol", ""},
		{"connection lost before data", "/a", map[byte]string{5: "close"}, "truncated", ""},
		{"silent before data", "/a", map[byte]string{5: ""}, "timeout", ""},
		{"file of unknown size", "/a", map[byte]string{17: "\x69" + id + u32(0), 5: eof}, "ok", ""},
		{"file of size 0", "/a", map[byte]string{17: "\x69" + id + u32(1) + u64(0), 5: eof}, "ok", ""},
		{"file of size 0, silent before data", "/a", map[byte]string{17: "\x69" + id + u32(1) + u64(0), 5: ""}, "timeout", ""},
		{"size of 64 bits", "/a", map[byte]string{17: "\x69" + id + u32(1) + u64(-1)}, "protocol", ""},
		{"short attributes", "/a", map[byte]string{17: "\x69" + id + u32(15)}, "protocol", ""},
		{"endless extended attributes", "/a", map[byte]string{17: "\x69" + id + u32(-1<<31) + u32(-1)}, "protocol", ""},
		{"pipe", "/a", map[byte]string{17: "\x69" + id + u32(4) + u32(0o10644)}, "server-perm", ""},
		{"directory without a slash", "/a", map[byte]string{17: dir}, "policy-address", ""},
		{"missing", "/a", map[byte]string{17: "\x65" + id + u32(2) + str("no \x1b[2Jfile") + str("")}, "not-found", ""},
		{"missing, without a message", "/a", map[byte]string{17: "\x65" + id + u32(2)}, "not-found", ""},
		{"permission denied", "/a", map[byte]string{3: "\x65" + id + u32(3) + str("") + str("")}, "server-perm", ""},
		{"unknown status", "/a", map[byte]string{3: "\x65" + id + u32(-1) + str("x") + str("")}, "server-perm", ""},
		{"status without a code", "/a", map[byte]string{3: "\x65" + id}, "protocol", ""},
		{"reply of a wrong type", "/a", map[byte]string{3: file}, "protocol", ""},
		{"long handle", "/a", map[byte]string{3: "\x66" + id + str(strings.Repeat("h", 257))}, "protocol", ""},
		{"handle longer than its packet", "/a", map[byte]string{3: "\x66" + id + u32(1000) + "h"}, "protocol", ""},
		{"old version", "/a", map[byte]string{1: "\x02" + u32(2)}, "protocol", ""},
		{"no version", "/a", map[byte]string{1: file}, "protocol", ""},
		{"empty packet", "/a", map[byte]string{1: "\x02"}, "protocol", ""},
		{"silent", "/a", map[byte]string{1: ""}, "timeout", ""},
		{"closed", "/a", map[byte]string{1: "close"}, "connect", ""},
		{"malformed extensions", "/a", map[byte]string{1: "\x02" + u32(3) + u32(9)}, "protocol", ""},
		{"empty directory", "/d/", map[byte]string{17: dir, 12: eof}, "ok", ""},
		{"no directory", "/d/", map[byte]string{17: file}, "not-found", ""},
		{"endless empty replies", "/d/", map[byte]string{17: dir, 12: "\x68" + id + u32(0)}, "protocol", ""},
		{"endless directory", "/d/", map[byte]string{17: dir, 12: "\x68" + id + u32(1) + name("a")}, "too-large", ""},
		{"names that are not there", "/d/", map[byte]string{17: dir, 12: "\x68" + id + u32(-1) + name("a")}, "protocol", ""},
		{"listing error", "/d/", map[byte]string{17: dir, 12: "\x65" + id + u32(4) + str("x") + str("")}, "server-perm", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			replies := map[byte][]byte{1: []byte("\x02" + u32(3)), 17: []byte(file), 3: []byte(handle), 11: []byte(handle), 4: []byte(ok)}
			for kind, reply := range test.replies {
				switch replies[kind] = []byte(reply); reply {
				case "close":
					replies[kind] = nil
				case "":
					delete(replies, kind)
				}
			}
			s := newServer(t, scripted(replies))
			synctest.Test(t, func(t *testing.T) {
				c := schemetest.NewClient(t, sftp.Schemes(s.options()), withDial(s), func(o *fetch.Options) { o.Policy.MaxBody = 1 << 20 })
				r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, "sftp://alice:s3cret@192.0.2.1"+test.path))
				if test.fault == "too-large" {
					test.body = r.Body
				}
				r.Check(t, test.fault, test.body, 2*time.Minute)
				c.Close()
			})
		})
	}
}

// TestHugePacket checks that the length of a packet is limited.
func TestHugePacket(t *testing.T) {
	s := newServer(t, func(channel io.ReadWriteCloser) {
		channel.Write(append([]byte("\xff\xff\xff\xff\x02"), bytes.Repeat([]byte("x"), 1<<20)...))
		channel.Close()
	})
	c := schemetest.NewClient(t, sftp.Schemes(s.options()), withDial(s))
	if _, err := c.Get(t.Context(), "sftp://alice:s3cret@192.0.2.1/a"); !errors.Is(err, fetch.Protocol) {
		t.Errorf("got %v", err)
	}
}

// TestMessages checks that messages for the standard error are read, and that
// their size is limited.
func TestMessages(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", []byte("hello"))
	for size, want := range map[int]error{32 << 10: nil, 256 << 10: fetch.Connect} {
		s := newServer(t, func(channel io.ReadWriteCloser) {
			channel.(ssh.Channel).Stderr().Write(bytes.Repeat([]byte("x"), size))
			if want == nil {
				library(dir)(channel)
			}
			io.Copy(io.Discard, channel) // a response could arrive before the client has read all messages
		})
		c := schemetest.NewClient(t, sftp.Schemes(s.options()), withDial(s))
		if resp, err := c.Get(t.Context(), "sftp://alice:s3cret@192.0.2.1"+dir+"/a"); !errors.Is(err, want) {
			t.Errorf("%d bytes: got %v, want %v", size, err, want)
		} else if err == nil {
			resp.Body.Close()
		}
	}
}

// TestSmallPackets checks that a server cannot fill the window of the channel with
// packets of one byte while the body is not read.
func TestSmallPackets(t *testing.T) {
	const most = 250_000
	sent := make(chan int, 1)
	replies := map[byte][]byte{1: []byte("\x02" + u32(3)), 17: []byte("\x69...." + u32(4) + u32(0o100644)), 3: []byte("\x66...." + str("h"))}
	s := newServer(t, func(channel io.ReadWriteCloser) {
		scripted(replies)(&untilRead{channel})
		n := 0
		for n < most {
			if _, err := channel.Write([]byte{0}); err != nil {
				break
			}
			n++
		}
		sent <- n
	})
	c := schemetest.NewClient(t, sftp.Schemes(s.options()), withDial(s))
	resp, err := c.Get(t.Context(), "sftp://alice:s3cret@192.0.2.1/a")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n := <-sent; n == most {
		t.Errorf("the client has accepted %d packets", n)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the body is complete")
	}
}

// An untilRead is a channel whose writes fail after the reply to OPEN. It is not
// closed.
type untilRead struct{ io.ReadWriteCloser }

func (c *untilRead) Write(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Write(p)
	if p[4] == 102 && err == nil {
		err = io.ErrClosedPipe
	}
	return n, err
}

func (c *untilRead) Close() error { return nil }

// TestListedNames checks the entries for unusual names.
func TestListedNames(t *testing.T) {
	dir := func(names ...string) []byte {
		out := "\x68....\x00\x00\x00" + string(rune(len(names)))
		for _, n := range names {
			out += str(n) + str("long") + u32(4) + u32(0o100644)
		}
		return []byte(out)
	}
	replies := map[byte][]byte{1: []byte("\x02" + u32(3)), 17: []byte("\x69...." + u32(4) + u32(0o40755)), 11: []byte("\x66...." + str("h")), 4: []byte("\x65...." + u32(0)),
		12: dir(".", "..", "../up", "/etc/passwd", "", "a\x00b", "a b%?#", "caf\xe9", "x\r\ny")}
	s := newServer(t, nil)
	s.sftp = scripted(replies)
	c := schemetest.NewClient(t, sftp.Schemes(s.options()), withDial(s))
	resp, err := c.Get(t.Context(), "sftp://alice:s3cret@192.0.2.1/d/")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range resp.Entries() {
		if err != nil || len(got) == 7 {
			break
		}
		got = append(got, schemetest.DescribeEntry(e, "sftp://alice@192.0.2.1"))
	}
	want := `info "../up"
info "/etc/passwd"
info ""
info "a\x00b"
document "a b%?#" /d/a%20b%25%3F%23
document "café" /d/caf%E9 charset="iso-8859-1"
document "x\r\ny" /d/x%0D%0Ay`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestHandshake checks failures before the first SFTP request.
func TestHandshake(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", []byte("hello"))
	for _, test := range []struct {
		name   string
		url    string
		server func(*server)
		change func(*fetch.Options)
		o      func(*sftp.Options)
		fault  string
	}{
		{name: "password in the URL", url: "alice:s3cret@", fault: "ok"},
		{name: "wrong password", url: "alice:wrong@", fault: "auth"},
		{name: "no password", url: "alice@", fault: "auth"},
		{name: "password from Login", url: "alice@", fault: "ok", change: func(o *fetch.Options) {
			o.Login = func(_ context.Context, c fetch.Challenge) (*fetch.Credential, error) {
				return &fetch.Credential{User: c.User, Password: "s3cret"}, nil
			}
		}},
		{name: "Login fails", url: "alice@", fault: "io-local", change: func(o *fetch.Options) {
			o.Login = func(context.Context, fetch.Challenge) (*fetch.Credential, error) { return nil, fetch.Local.Errorf("x") }
		}},
		{name: "keyboard-interactive", url: "alice:s3cret@", fault: "ok", server: questions("Password: ")},
		{name: "two questions", url: "alice:s3cret@", fault: "auth", server: questions("Password: ", "Code: ")},
		{name: "endless questions", url: "alice:s3cret@", fault: "auth", server: endlessQuestions},
		{name: "other key", url: "alice:s3cret@", fault: "tls", o: func(o *sftp.Options) { o.HostKey = "SHA256:AAAA" }},
		{name: "other key, not verified", url: "alice:s3cret@", fault: "ok", o: func(o *sftp.Options) { o.HostKey = "SHA256:AAAA" },
			change: func(o *fetch.Options) { o.TLS = &tls.Config{InsecureSkipVerify: true} }},
		{name: "unknown key", url: "alice:s3cret@", fault: "tls", o: func(o *sftp.Options) { o.HostKey, o.KnownHosts = "", []string{"/nonexistent"} }},
		{name: "silent", url: "alice:s3cret@", fault: "timeout", server: func(s *server) { s.deaf = true }},
		{name: "no subsystem", url: "alice:s3cret@", fault: "unsupported", server: func(s *server) { s.refuse = true }},
		{name: "key file missing", url: "alice@", fault: "auth"},
		{name: "line break in the user name", url: "a%0Ab:s3cret@", fault: "ok"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, library(dir))
			if test.server != nil {
				test.server(s)
			}
			o := s.options()
			if test.o != nil {
				test.o(&o)
			}
			o.Key = ""
			t.Setenv("HOME", dir)
			t.Setenv("SSH_AUTH_SOCK", "")
			synctest.Test(t, func(t *testing.T) {
				change := test.change
				if change == nil {
					change = func(*fetch.Options) {}
				}
				c := schemetest.NewClient(t, sftp.Schemes(o), withDial(s), change)
				r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, "sftp://"+test.url+"192.0.2.1"+dir+"/a"))
				want := ""
				if test.fault == "ok" {
					want = "hello"
				}
				r.Check(t, test.fault, want, 2*time.Minute)
				c.Close()
			})
		})
	}
}

// questions makes a server ask questions, whose answers must all be the password.
func questions(all ...string) func(*server) {
	return func(s *server) {
		s.config.PasswordCallback = nil
		s.config.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			answers, err := ask("", "", all, make([]bool, len(all)))
			if err != nil || len(answers) != len(all) || answers[0] != "s3cret" {
				return nil, errors.New("wrong answer")
			}
			return nil, nil
		}
	}
}

func endlessQuestions(s *server) {
	s.config.PasswordCallback = nil
	s.config.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		for {
			if _, err := ask("", "", nil, nil); err != nil {
				return nil, err
			}
		}
	}
}

// TestPlan checks the requests of each form of URL.
func TestPlan(t *testing.T) {
	schemetest.Plans(t, sftp.Schemes(sftp.Options{})[0], map[string]string{
		"sftp://h":          "STAT /; OPENDIR /; READDIR",
		"sftp://h/":         "STAT /; OPENDIR /; READDIR",
		"sftp://h/a/b":      "STAT /a/b; OPEN /a/b; READ",
		"sftp://h/a%20b/":   "STAT /a b; OPENDIR /a b; READDIR",
		"sftp://h//a":       "STAT //a; OPEN //a; READ",
		"sftp://h/~":        "STAT .; OPENDIR .; READDIR",
		"sftp://h/~/":       "STAT .; OPENDIR .; READDIR",
		"sftp://h/~/a":      "STAT a; OPEN a; READ",
		"sftp://h/~//etc":   "STAT etc; OPEN etc; READ",
		"sftp://h/~alice/a": "STAT /~alice/a; OPEN /~alice/a; READ",
		"scp://h/a":         "STAT /a; OPEN /a; READ",
		"sftp:///a":         "invalid-uri: sftp URL must have a host, such as sftp://HOST/PATH",
		"sftp://h/a?b":      `invalid-uri: sftp URL must not have a query: write "?" as %3F`,
		"sftp://h/a%00":     "invalid-uri: NUL in a file name",
	})
}

func TestHostNames(t *testing.T) {
	schemetest.Names(t, sftp.Schemes(sftp.Options{}), "sftp://h.example/a")
}
