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

// Do is a custom step. An error of f ends the script and is reported by
// Server.Err, unless it is an error of the connection.
func Do(name string, f func(*Conn) error) Step { return Step{name, f} }

// Refuse, as the first step, refuses connections (ECONNREFUSED).
func Refuse() Step { return Step{name: refuse} }

// Blackhole, as the first step, never replies to a connection attempt.
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

// SendFile sends the content of a file.
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

// SendBytes sends the first n bytes of the text of Body.
func SendBytes(n int64) Step {
	return Do("send bytes", func(c *Conn) error {
		_, err := io.Copy(c, Body(n))
		return err
	})
}

// Body returns a reader of n bytes: lines of increasing numbers, so that a
// missing or repeated part is detected.
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

// SendSlow sends text in pieces of n bytes, one every d.
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

// Garbage sends n pseudo-random bytes. Each call sends the same bytes.
func Garbage(n int) Step {
	return Do("garbage", func(c *Conn) error {
		p := make([]byte, n)
		for r, i := rand.New(rand.NewPCG(1, 2)), 0; i < n; i++ {
			p[i] = byte(r.Uint32())
		}
		return c.write(p)
	})
}

// Delay waits for d.
func Delay(d time.Duration) Step {
	return Do("delay", func(c *Conn) error {
		if !c.sleep(d) {
			return errEnd
		}
		return nil
	})
}

// Stall keeps the connection open without sending, until the server is closed.
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

// Fin closes the connection, as at the end of every script. TLS is closed with
// its alert first.
func Fin() Step {
	return Do("fin", func(c *Conn) error {
		c.top.Close()
		return errEnd
	})
}

// Cut closes the connection below TLS, between two records and without the
// alert that distinguishes a complete stream from a truncated one. crypto/tls
// ignores the missing alert. Without TLS, Cut is equal to Fin.
func Cut() Step {
	return Do("cut", func(c *Conn) error {
		c.raw.Close()
		return errEnd
	})
}

// HalfClose closes the sending side of the server. It continues to read.
func HalfClose() Step {
	return Do("half close", func(c *Conn) error { return c.halfClose() })
}

// Expect reads until the bytes since the last reading step match the regular
// expression, and consumes them up to the end of the match. If the client
// closes the connection earlier, Server.Err reports an error.
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

// Restart stops the server and starts it again. All connections end, and new
// ones are refused for d. Then the next script is used.
func Restart(d time.Duration) Step {
	return Do("restart", func(c *Conn) error { return c.server.restart(d) })
}
