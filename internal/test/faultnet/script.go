package faultnet

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"time"
)

// A Script is the behavior of a server on one connection. The connection is
// closed after the last step. A script that must keep it open ends with Stall.
type Script []Step

// A Step is one action of a Script.
type Step struct {
	name string
	do   func(*Conn) error
}

// String returns the name of the step.
func (s Step) String() string { return s.name }

// Do returns a Step that calls f. An error of f ends the script, and Server.Err
// reports it.
func Do(name string, f func(*Conn) error) Step { return Step{name, f} }

// Refuse returns a Step that refuses connections with ECONNREFUSED. It must be
// the first Step of a Script.
func Refuse() Step { return Step{name: refuse} }

// Blackhole returns a Step that never answers attempts to connect. It must be
// the first Step of a Script.
func Blackhole() Step { return Step{name: blackhole} }

const (
	refuse    = "refuse"
	blackhole = "blackhole"
)

func (s Script) begins(name string) bool { return len(s) > 0 && s[0].name == name }

// Send returns a Step that sends text.
func Send(text string) Step {
	return Do("send", func(c *Conn) error { return c.write([]byte(text)) })
}

// SendFile returns a Step that sends the content of a file.
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

// SendBytes returns a Step that sends n bytes of generated text, as returned by
// Body.
func SendBytes(n int64) Step {
	return Do("send bytes", func(c *Conn) error {
		_, err := io.Copy(c, Body(n))
		return err
	})
}

// Body returns a reader of n bytes of generated text. The text consists of
// increasing numbers, so that missing or repeated parts can be detected.
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

// SendSlow returns a Step that sends n bytes of text at a time, with pauses of
// d.
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

// Garbage returns a Step that sends n pseudo-random bytes, the same bytes in
// each test.
func Garbage(n int) Step {
	return Do("garbage", func(c *Conn) error {
		p := make([]byte, n)
		for r, i := rand.New(rand.NewPCG(1, 2)), 0; i < n; i++ {
			p[i] = byte(r.Uint32())
		}
		return c.write(p)
	})
}

// Delay returns a Step that waits for d.
func Delay(d time.Duration) Step {
	return Do("delay", func(c *Conn) error {
		if !c.sleep(d) {
			return errEnd
		}
		return nil
	})
}

// Stall returns a Step that sends no more bytes and keeps the connection open.
func Stall() Step {
	return Do("stall", func(c *Conn) error {
		<-c.done
		return errEnd
	})
}

// Reset returns a Step that aborts the connection with a TCP RST.
func Reset() Step {
	return Do("reset", func(c *Conn) error {
		c.reset()
		return errEnd
	})
}

// Fin returns a Step that closes the connection. On a TLS connection it sends
// close_notify first.
func Fin() Step {
	return Do("fin", func(c *Conn) error {
		c.top.Close()
		return errEnd
	})
}

// Cut returns a Step that closes a TLS connection without close_notify, as an
// attacker or a broken network would. On a connection without TLS, Cut does the
// same as Fin.
func Cut() Step {
	return Do("cut", func(c *Conn) error {
		c.raw.Close()
		return errEnd
	})
}

// HalfClose returns a Step that closes the sending side. The server continues
// to read.
func HalfClose() Step {
	return Do("half close", func(c *Conn) error { return c.halfClose() })
}

// Expect returns a Step that reads until the client's bytes match a regular
// expression. If the client closes the connection before a match, Server.Err
// reports an error.
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
			return fmt.Errorf("client sent %q: %v", c.unread(), err)
		}
		return nil
	})
}

// Restart returns a Step that simulates a restart of the server. All
// connections end, new ones are refused for the time d, and the next Script is
// used afterwards.
func Restart(d time.Duration) Step {
	return Do("restart", func(c *Conn) error { return c.server.restart(d) })
}
