package http3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

// TestResponses reads valid responses.
func TestResponses(t *testing.T) {
	ok := section(":status", "200", "content-length", "5")
	for _, c := range []struct {
		name   string
		frames [][]byte
		status int
		body   string
	}{
		{"length", [][]byte{ok, data("hello")}, 200, "hello"},
		{"no length", [][]byte{section(":status", "200"), data("he"), data("llo")}, 200, "hello"},
		{"no body", [][]byte{section(":status", "204")}, 204, ""},
		{"empty frames", [][]byte{ok, data(""), data("hello"), data("")}, 200, "hello"},
		{"interim", [][]byte{section(":status", "103", "link", "x"), ok, data("hello")}, 200, "hello"},
		{"unknown frames", [][]byte{appendFrame(nil, 0x21, []byte("x")), ok, appendFrame(nil, 1<<40, nil), data("hello")}, 200, "hello"},
		{"trailer", [][]byte{ok, data("hello"), section("digest", "x")}, 200, "hello"},
		{"not modified with a length", [][]byte{section(":status", "304", "content-length", "5")}, 304, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := serve(t, settings, write(c.frames...))
			status, body, trailer, err := request(conn, 10*time.Second, get)
			if err != nil || status != c.status || body != c.body || (c.name == "trailer") != (len(trailer) == 1) {
				t.Errorf("got %d, %q, %v, %v", status, body, trailer, err)
			}
		})
	}
}

// TestServerStopsReading checks responses of a server that does not read the end
// of the requests (RFC 9114 section 4.1).
func TestServerStopsReading(t *testing.T) {
	conn := serve(t, settings, func(c *quic.Conn, s *quic.Stream) {
		for err := error(nil); err == nil; s, err = c.AcceptStream(context.Background()) {
			s.CancelRead(noError)
			write(section(":status", "200", "content-length", "5"), data("hello"))(c, s)
		}
	})
	large := append(slices.Clone(get), Field{Name: "x", Value: strings.Repeat("x", 1<<20)}) // more than the server accepts before it reads
	for range 10 {
		if status, body, _, err := request(conn, 10*time.Second, large); status != 200 || body != "hello" || err != nil {
			t.Fatal(status, body, err)
		}
	}
}

// Classes of errors.
const (
	violation  = "violation"
	truncation = "truncated"
	large      = "too large"
	lost       = "lost"
	unsent     = "unsent"
	late       = "timeout"
)

func classOf(err error) string {
	var e *Error
	var l *LostError
	switch {
	case err == nil:
		return "none"
	case errors.Is(err, ErrUnsent):
		return unsent
	case errors.As(err, &e) && e.TooLarge:
		return large
	case errors.As(err, &e) && e.Truncated:
		return truncation
	case errors.As(err, &e):
		return violation
	case errors.As(err, &l):
		return lost
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return late
	}
	return err.Error()
}

// TestHostileServer checks that each attack ends with an error of the right
// class, in bounded time and memory.
func TestHostileServer(t *testing.T) {
	ok := section(":status", "200", "content-length", "10")
	open := section(":status", "200")
	frame := func(kind uint64, payload string) []byte { return appendFrame(nil, kind, []byte(payload)) }
	declared := func(kind, length uint64) []byte { return appendVarint(appendVarint(nil, kind), length) }
	huge := strings.Repeat("x", 1000)
	var fields []string
	for range 400 {
		fields = append(fields, "x-"+huge, huge)
	}
	// A reference to an entry of the static table has one byte.
	references := appendFrame(nil, frameHeaders, append([]byte{0, 0}, bytes.Repeat([]byte{0xc0 | 17}, 290_000)...))
	for _, c := range []struct {
		name   string
		want   string
		handle func(*quic.Conn, *quic.Stream)
	}{
		{"end before the response", truncation, write()},
		{"end inside a frame type", truncation, write([]byte{0x40})},
		{"end inside a header section", truncation, write(declared(frameHeaders, 100))},
		{"end inside a body without a length", truncation, write(open, declared(frameData, 100), []byte("abc"))},
		{"end inside a body", truncation, write(ok, declared(frameData, 10), []byte("abc"))},
		{"body shorter than its length", truncation, write(ok, data("abc"))},
		{"body longer than its length", violation, write(ok, data("0123456789a"))},
		{"body without a header", violation, write(data("abc"))},
		{"reset", lost, func(_ *quic.Conn, s *quic.Stream) { s.Write(ok); s.CancelWrite(0x102) }},
		{"rejected", unsent, func(_ *quic.Conn, s *quic.Stream) { s.CancelWrite(requestRejected) }},
		{"connection closed", lost, func(c *quic.Conn, _ *quic.Stream) { c.CloseWithError(0x100, "") }},
		{"header section of 1 GiB", large, repeat(declared(frameHeaders, 1<<30), []byte(huge))},
		{"header section of 4 EiB", large, repeat(declared(frameHeaders, 1<<62-1), []byte(huge))},
		{"large header section", large, write(section(append([]string{":status", "200"}, fields...)...))},
		{"references to the static table", large, write(references)},
		{"trailer of 1 GiB", large, repeat(append(open, declared(frameHeaders, 1<<30)...), []byte(huge))},
		{"reference to the dynamic table", violation, write(appendFrame(nil, frameHeaders, []byte{2, 0, 0x80}))},
		{"malformed header section", violation, write(appendFrame(nil, frameHeaders, []byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}))},
		{"no status", violation, write(section("a", "b"))},
		{"two statuses", violation, write(section(":status", "200", ":status", "200"))},
		{"status 101", violation, write(section(":status", "101"))},
		{"status with letters", violation, write(section(":status", "+20"))},
		{"upper case", violation, write(section(":status", "200", "A", "b"))},
		{"line end", violation, write(section(":status", "200", "a", "b\r\nc: d"))},
		{"space in a name", violation, write(section(":status", "200", "a b", "c"))},
		{"Transfer-Encoding", violation, write(section(":status", "200", "transfer-encoding", "chunked"))},
		{"two lengths", violation, write(section(":status", "200", "content-length", "1", "content-length", "2"))},
		{"negative length", violation, write(section(":status", "200", "content-length", "-1"))},
		{"flood of interim responses", violation, repeat(nil, section(":status", "103"))},
		{"flood of unknown frames", violation, repeat(nil, frame(0x21, ""))},
		{"unknown frame of 1 TiB", violation, repeat(declared(0x21, 1<<40), []byte(huge))},
		{"flood of empty DATA frames", violation, repeat(open, data(""))},
		{"flood of unknown frames in the body", violation, repeat(open, frame(0x21, "x"))},
		{"SETTINGS on the stream", violation, write(frame(frameSettings, ""))},
		{"PUSH_PROMISE", violation, write(frame(framePushPromise, "\x00\x00"))},
		{"frame of HTTP/2", violation, write(frame(0x6, ""))},
		{"two trailers", violation, write(open, section("a", "b"), section("c", "d"))},
		{"body after the trailer", violation, write(open, section("a", "b"), data("c"))},
		{"status in the trailer", violation, write(open, data("a"), section(":status", "200"))},
		{"nothing", late, func(*quic.Conn, *quic.Stream) {}},
		{"one byte of a header section", late, func(_ *quic.Conn, s *quic.Stream) { s.Write(declared(frameHeaders, 100)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := serve(t, settings, c.handle)
			limit := time.Minute
			if c.want == late {
				limit = 50 * time.Millisecond
			}
			if _, _, _, err := request(conn, limit, get); classOf(err) != c.want {
				t.Errorf("got %v (%s), want %s", err, classOf(err), c.want)
			}
		})
	}
}

// TestHostileConnection checks attacks outside of the stream of the request.
func TestHostileConnection(t *testing.T) {
	unknown := appendFrame(nil, 0x21, nil)
	for _, c := range []struct {
		name    string
		want    string
		control func(*quic.Conn)
	}{
		{"no SETTINGS", violation, func(c *quic.Conn) { openControl(c, unknown) }},
		{"SETTINGS twice", violation, func(c *quic.Conn) { openControl(c, []byte{frameSettings, 0, frameSettings, 0}) }},
		{"setting twice", violation, func(c *quic.Conn) { openControl(c, []byte{frameSettings, 4, 6, 1, 6, 1}) }},
		{"setting of HTTP/2", violation, func(c *quic.Conn) { openControl(c, []byte{frameSettings, 2, 2, 1}) }},
		{"incomplete setting", violation, func(c *quic.Conn) { openControl(c, []byte{frameSettings, 1, 6}) }},
		{"SETTINGS of 1 GiB", large, func(c *quic.Conn) { openControl(c, appendVarint([]byte{frameSettings}, 1<<30)) }},
		{"DATA on the control stream", violation, func(c *quic.Conn) { openControl(c, []byte{frameSettings, 0, frameData, 0}) }},
		{"CANCEL_PUSH", violation, func(c *quic.Conn) { openControl(c, []byte{frameSettings, 0, frameCancelPush, 1, 0}) }},
		{"control stream twice", violation, func(c *quic.Conn) { settings(c); settings(c) }},
		{"push stream", violation, func(c *quic.Conn) { settings(c); openStream(c, []byte{streamPush, 0}) }},
		{"end of the control stream", violation, func(c *quic.Conn) {
			s, err := c.OpenUniStream()
			if err == nil {
				s.Write([]byte{streamControl, frameSettings, 0})
				s.Close()
			}
		}},
		{"flood on the control stream", violation, func(c *quic.Conn) {
			openControl(c, append([]byte{frameSettings, 0}, bytes.Repeat(unknown, 2*maxIdleCost)...))
		}},
		{"flood of streams", late, func(c *quic.Conn) {
			settings(c)
			opened := 1
			for ctx, cancel := context.WithTimeout(c.Context(), 200*time.Millisecond); ; opened++ {
				s, err := c.OpenUniStreamSync(ctx)
				if err != nil {
					cancel()
					break
				}
				s.Write([]byte{0x21})
				s.Close()
			}
			if opened > uniStreams {
				t.Errorf("server opened %d streams", opened)
			}
		}},
		{"stream for requests", violation, func(c *quic.Conn) {
			if s, err := c.OpenStream(); err == nil {
				s.Write([]byte{0})
				t.Error("server opened a stream for requests")
			}
			openControl(c, unknown)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := serve(t, c.control, func(*quic.Conn, *quic.Stream) {})
			limit := time.Minute
			if c.want == late {
				limit = 100 * time.Millisecond
			}
			_, _, _, err := request(conn, limit, get)
			if got := classOf(err); got != c.want && (got != unsent || c.want == late) && (got != violation || c.want != large) {
				t.Errorf("got %v (%s), want %s", err, got, c.want)
			}
		})
	}
}

// TestGoAway checks that no request is sent after GOAWAY, and that the request
// under way is completed.
func TestGoAway(t *testing.T) {
	conn := serve(t, func(c *quic.Conn) {
		openControl(c, []byte{frameSettings, 0, frameGoAway, 1, 4})
	}, func(_ *quic.Conn, s *quic.Stream) {
		io.ReadAll(s)
		s.Write(append(section(":status", "200"), data("hello")...))
		s.Close()
	})
	_, body, _, err := request(conn, time.Minute, get)
	if classOf(err) != unsent && (err != nil || body != "hello") {
		t.Errorf("got %q, %v", body, err)
	}
	for conn.Usable() {
		runtime.Gosched()
	}
	if _, _, _, err := request(conn, time.Minute, get); classOf(err) != unsent {
		t.Errorf("after GOAWAY: got %v", err)
	}
}

// TestCancel checks that a canceled context ends a Read, and that HEAD has no
// body.
func TestCancel(t *testing.T) {
	conn := serve(t, settings, func(_ *quic.Conn, s *quic.Stream) {
		s.Write(append(section(":status", "200"), data("hello")...))
	})
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := conn.RoundTrip(ctx, get, time.Minute, func() {}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(resp.Body, b); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := resp.Body.Read(b); err == nil || err == io.EOF {
		t.Errorf("after the end of the context: got %v", err)
	}
	head := append([]Field{{Name: ":method", Value: "HEAD"}}, get[1:]...)
	conn = serve(t, settings, write(section(":status", "200", "content-length", "5")))
	if _, body, _, err := request(conn, time.Minute, head); err != nil || body != "" {
		t.Errorf("HEAD: got %q, %v", body, err)
	}
}

// FuzzFrames checks that every stream of a server gives a bounded response or an
// error.
func FuzzFrames(f *testing.F) {
	f.Add(append(section(":status", "200"), data("hello")...))
	f.Add([]byte{0x21, 0, 0x40})
	f.Fuzz(func(t *testing.T, stream []byte) {
		frames := newFrameReader(bytes.NewReader(stream))
		b := &Body{frames: frames, length: -1}
		section, err := b.headers()
		if err != nil {
			return
		}
		if resp, err := newResponse(section); err == nil && (resp.Status < 100 || resp.Status > 999) {
			t.Errorf("status %d", resp.Status)
		}
		var total int
		for p := make([]byte, 100); ; {
			n, err := b.next(p)
			if total += n; total > len(stream) {
				t.Fatalf("%d bytes of %d", total, len(stream))
			}
			if err != nil {
				return
			}
		}
	})
}
