package faultnet

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"time"
)

// A Script is what a server does with one connection, from its first byte to
// its last. After the last step the connection is closed; a script that is to
// keep it open ends with Stall.
type Script []Step

// A Step is one verb of a Script.
type Step struct {
	name string
	do   func(*Conn) error
}

// String returns the verb.
func (s Step) String() string { return s.name }

// Do is a step of the test's own. An error ends the script and is part of
// Server.Err, unless it is one of the connection.
func Do(name string, f func(*Conn) error) Step { return Step{name, f} }

// Refuse, as the first step, lets nobody connect: ECONNREFUSED.
func Refuse() Step { return Step{name: refuse} }

// Blackhole, as the first step, never answers a connection attempt.
func Blackhole() Step { return Step{name: blackhole} }

const (
	refuse    = "refuse"
	blackhole = "blackhole"
)

func (s Script) begins(name string) bool { return len(s) > 0 && s[0].name == name }

// Send sends text.
func Send(text string) Step {
	return Do("send", func(c *Conn) error { return c.write([]byte(text)) })
}

// SendFile sends what is in a file.
func SendFile(path string) Step {
	return Do("send file", func(c *Conn) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(c, f)
		return err
	})
}

// SendBytes sends n bytes of a text that Body repeats.
func SendBytes(n int64) Step {
	return Do("send bytes", func(c *Conn) error {
		_, err := io.Copy(c, Body(n))
		return err
	})
}

// Body returns the n bytes that SendBytes sends: lines of digits, each other
// than the last, so that a gap or a doubling shows.
func Body(n int64) io.Reader { return io.LimitReader(new(counter), n) }

type counter struct {
	n    int64
	line []byte
}

func (c *counter) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(c.line) == 0 {
			c.line = fmt.Appendf(c.line[:0], "%014d\r\n", c.n)
			c.n++
		}
		k := copy(p[n:], c.line)
		c.line = c.line[k:]
		n += k
	}
	return n, nil
}

// SendSlow sends text, n bytes every d.
func SendSlow(text string, n int, d time.Duration) Step {
	return Do("send slowly", func(c *Conn) error {
		for part := []byte(text); len(part) > 0; {
			k := min(n, len(part))
			if err := c.write(part[:k]); err != nil {
				return err
			}
			if part = part[k:]; len(part) > 0 && !c.sleep(d) {
				return errEnd
			}
		}
		return nil
	})
}

// Garbage sends n random bytes, the same ones each time.
func Garbage(n int) Step {
	return Do("garbage", func(c *Conn) error {
		p := make([]byte, n)
		for r, i := rand.New(rand.NewPCG(1, 2)), 0; i < n; i++ {
			p[i] = byte(r.Uint32())
		}
		return c.write(p)
	})
}

// Delay does nothing for d.
func Delay(d time.Duration) Step {
	return Do("delay", func(c *Conn) error {
		if !c.sleep(d) {
			return errEnd
		}
		return nil
	})
}

// Stall keeps the connection open and is silent until the server is closed.
func Stall() Step {
	return Do("stall", func(c *Conn) error {
		<-c.done
		return errEnd
	})
}

// Reset ends the connection with a TCP RST.
func Reset() Step {
	return Do("reset", func(c *Conn) error {
		c.reset()
		return errEnd
	})
}

// Fin closes the connection, as the end of every script does; TLS is closed
// first by its own alert.
func Fin() Step {
	return Do("fin", func(c *Conn) error {
		c.top.Close()
		return errEnd
	})
}

// Cut closes the connection below TLS, between two records and without the
// alert that tells the end of the data from a truncation; crypto/tls does not
// mind. Without TLS it is Fin.
func Cut() Step {
	return Do("cut", func(c *Conn) error {
		c.raw.Close()
		return errEnd
	})
}

// HalfClose ends what the server says and lets it go on hearing.
func HalfClose() Step {
	return Do("half close", func(c *Conn) error { return c.halfClose() })
}

// Expect reads until what the client said since the last step that read
// matches the regular expression, and takes all of that up to the end of the
// match. A client that ends before is an error of Server.Err.
func Expect(pattern string) Step {
	re := regexp.MustCompile(pattern)
	return Do("expect "+pattern, func(c *Conn) error {
		_, err := c.take(func(said []byte) (int, bool) {
			at := re.FindIndex(said)
			if at == nil {
				return 0, false
			}
			return at[1], true
		})
		if err != nil {
			return fmt.Errorf("client said %q: %v", c.unread(), err)
		}
		return nil
	})
}

// Restart is the end of the server process and its return: all connections
// end, for d nobody can connect, then the next script begins.
func Restart(d time.Duration) Step {
	return Do("restart", func(c *Conn) error { return c.server.restart(d) })
}
