package http3

import (
	"context"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"

	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// receive reports a packet with one frame.
func (g *bufferGuard) receive(id quic.StreamID, offset, length int64) {
	f := &qlog.StreamFrame{StreamID: id, Offset: offset, Length: length}
	g.RecordEvent(qlog.PacketReceived{Frames: []qlog.Frame{{Frame: f}}})
}

// fill reports frames of equal length until a stream has size unread bytes.
func (g *bufferGuard) fill(id quic.StreamID, size, length int64) {
	for offset := int64(0); offset < size; offset += length {
		g.receive(id, offset, length)
	}
}

// TestBufferGuard checks which frames exceed the limit for their memory.
func TestBufferGuard(t *testing.T) {
	const room = 2 << 20                                   // bytes below the limit
	const most = room / (frameSize + 1)                    // frames of one byte
	const mostBuffered = room / (frameSize + bufferedSize) // frames with a buffer
	const usual = 1165                                     // bytes of data in a packet with 1200 bytes
	for _, c := range []struct {
		name string
		run  func(*bufferGuard)
		want bool
	}{
		{"frames of one byte", func(g *bufferGuard) { g.fill(0, most+1, 1) }, true},
		{"at the limit", func(g *bufferGuard) { g.fill(0, most, 1) }, false},
		{"on several streams", func(g *bufferGuard) {
			for id := range quic.StreamID(8) {
				g.fill(id, most/8+1, 1)
			}
		}, true},
		{"shortest frames with a buffer", func(g *bufferGuard) { g.fill(0, (mostBuffered+1)*minPooled, minPooled) }, true},
		{"frames without data", func(g *bufferGuard) {
			for range 2 * most {
				g.receive(0, 100, 0)
			}
		}, false},
		{"full windows after canceled requests", func(g *bufferGuard) {
			g.total = 0
			for id := quic.StreamID(400); !g.full(); id += 4 {
				g.start(id)
				g.fill(id, usual, usual)
				g.end(id, false)
			}
			for i := range quic.StreamID(message.MaxRequests) {
				g.fill(4*i, streamWindow, usual)
			}
		}, false},
		{"frames that are read", func(g *bufferGuard) {
			for i := range int64(2 * most) {
				g.receive(0, i, 1)
				g.read(0, 1)
			}
		}, false},
		{"frames that are read before they are reported", func(g *bufferGuard) {
			for i := range int64(2 * most) {
				g.read(0, 1)
				g.receive(0, i, 1)
			}
		}, false},
		{"frames that are received again", func(g *bufferGuard) {
			g.fill(0, 1000*usual, usual)
			g.read(0, 1000*usual)
			for range 2 * mostBuffered {
				g.receive(0, 999*usual, usual)
			}
		}, false},
		{"frames that overlap", func(g *bufferGuard) {
			for i := range int64(mostBuffered + 1) {
				g.receive(0, i*minPooled, usual)
			}
		}, true},
		{"frames behind a gap while the data before it is read", func(g *bufferGuard) {
			for i := range int64(most + 1) {
				g.receive(0, i*2, 2)
				g.read(0, 2)
				g.receive(0, 1<<30+i, 1)
			}
		}, true},
		{"frames beside a body", func(g *bufferGuard) {
			for i := range int64(most + 1) {
				g.receive(0, i*usual, usual)
				g.read(0, usual)
				g.receive(4, i, 1)
			}
		}, true},
	} {
		exceeded := false
		g := newBufferGuard(func() { exceeded = true })
		g.total = maxStored - room
		for i := range quic.StreamID(message.MaxRequests) {
			g.start(4 * i)
			g.start(4*i + 2)
		}
		if c.run(g); exceeded != c.want {
			t.Errorf("%s: exceeded %t, want %t (%d bytes)", c.name, exceeded, c.want, g.total)
		}
	}
}

// TestBufferGuardRead checks that each frame counts until its data is read.
func TestBufferGuardRead(t *testing.T) {
	for _, lengths := range [][]int64{{1}, {127, 128, 1}, {1452}, {1024}, {1, 1023}, {3, 1452, 200}} {
		for _, step := range []int{1, 100, 1452, blockSize, maxRead} {
			g := newBufferGuard(func() { t.Error("exceeded") })
			g.start(0)
			var received, read int64
			for i := 0; received < 5*blockSize; i++ {
				length := lengths[i%len(lengths)]
				g.receive(0, received, length)
				received += length
			}
			for read < received {
				n := min(int64(step), received-read)
				g.read(0, int(n))
				read += n
				if g.total < received-read {
					t.Fatalf("lengths %d, step %d: %d bytes count, but %d are unread", lengths, step, g.total, received-read)
				}
			}
			if g.total != 0 || len(g.streams[0].blocks) > 0 {
				t.Errorf("lengths %d, step %d: %d bytes remain", lengths, step, g.total)
			}
		}
	}
}

// TestBufferGuardEnd checks that the unread frames of a request that has ended
// count, and that later frames do not.
func TestBufferGuardEnd(t *testing.T) {
	g := newBufferGuard(func() { t.Error("exceeded") })
	for id := quic.StreamID(0); id < 40_000; id += 4 {
		g.start(id)
		g.receive(id, 0, 100)
		g.read(id, 200)
		g.end(id, true)
		g.receive(id, 100, 100)
		g.receive(id, 200, 1000) // after a cancellation
		g.read(id, 1)
	}
	if g.total != 0 || g.ended != 0 || len(g.streams) > 0 {
		t.Errorf("after complete requests: %d, %d, %d", g.total, g.ended, len(g.streams))
	}
	for id := quic.StreamID(0); g.ended <= maxEnded; id += 4 {
		if g.full() {
			t.Fatalf("full after %d bytes", g.ended)
		}
		g.start(id)
		g.receive(id, 0, 1000)
		g.end(id, false)
	}
	if !g.full() || g.total != g.ended || len(g.streams) > 0 {
		t.Errorf("after canceled requests: %d, %d, %d", g.total, g.ended, len(g.streams))
	}
}

// TestCanceledRequests checks that requests whose responses were not read completely
// count, because a server that does not confirm the end of their streams could make
// package quic keep any number of them.
func TestCanceledRequests(t *testing.T) {
	conn := serve(t, settings, func(c *quic.Conn, s *quic.Stream) {
		for err := error(nil); err == nil; s, err = c.AcceptStream(context.Background()) {
			s.Write(append(section(":status", "200"), data("hello")...))
			if s.StreamID() == 0 {
				s.Close()
			}
		}
	})
	ended := func() int64 {
		conn.guard.mu.Lock()
		defer conn.guard.mu.Unlock()
		return conn.guard.ended
	}
	if _, body, _, err := request(conn, time.Minute, get); body != "hello" || err != nil || ended() != 0 {
		t.Fatal(body, err, ended())
	}
	const most = maxEnded / streamSize // canceled requests
	for i := range 3 {
		if i == 2 {
			conn.guard.mu.Lock()
			conn.guard.ended += (most - 2) * streamSize
			conn.guard.mu.Unlock()
		}
		resp, err := conn.RoundTrip(t.Context(), get, time.Minute, func() {}, func() {})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if ended() < int64(i+1)*streamSize {
			t.Errorf("%d bytes after %d canceled requests", ended(), i+1)
		}
	}
	if conn.Usable() {
		t.Errorf("the connection is used after %d canceled requests", most+1)
	}
}

// TestOtherDestination checks that the socket of a connection sends only to the
// server.
func TestOtherDestination(t *testing.T) {
	var sockets [2]net.PacketConn
	for i := range sockets {
		var err error
		if sockets[i], err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		defer sockets[i].Close()
	}
	server, other := sockets[0], sockets[1]
	socket, err := net.Dial("udp", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	p := &packetConn{socket}
	if _, err := p.WriteTo([]byte("other"), other.LocalAddr()); err == nil {
		t.Error("no error for another destination")
	}
	if _, err := p.WriteTo([]byte("server"), server.LocalAddr()); err != nil {
		t.Error(err)
	}
	other.WriteTo([]byte("forged"), socket.LocalAddr())
	server.WriteTo([]byte("answer"), socket.LocalAddr())
	b := make([]byte, 100)
	if n, _, err := server.ReadFrom(b); string(b[:n]) != "server" || err != nil {
		t.Errorf("the server received %q, %v", b[:n], err)
	}
	if n, from, err := p.ReadFrom(b); string(b[:n]) != "answer" || err != nil || from.String() != server.LocalAddr().String() {
		t.Errorf("received %q from %v, %v", b[:n], from, err)
	}
}

// TestReadFrames checks that no frames count after their data was read.
func TestReadFrames(t *testing.T) {
	body := strings.Repeat("x", 100_000)
	conn := serve(t, settings, func(c *quic.Conn, s *quic.Stream) {
		for err := error(nil); err == nil; s, err = c.AcceptStream(context.Background()) {
			write(section(":status", "200"), data(body))(c, s)
		}
	})
	for range 20 {
		if _, got, _, err := request(conn, time.Minute, get); got != body || err != nil {
			t.Fatal(len(got), err)
		}
	}
	stored := func() (total, ended int64, requests int) {
		conn.guard.mu.Lock()
		defer conn.guard.mu.Unlock()
		for id := range conn.guard.streams {
			requests += 1 - int(id)%2
		}
		return conn.guard.total, conn.guard.ended, requests
	}
	until := time.Now().Add(2 * time.Minute)
	total, ended, requests := stored()
	for ; total > 0 && time.Now().Before(until); total, ended, requests = stored() { // until SETTINGS are read
		runtime.Gosched()
	}
	if total != 0 || ended != 0 || requests != 0 {
		t.Errorf("%d bytes, %d of ended requests, %d requests", total, ended, requests)
	}
	conn.guard.mu.Lock()
	conn.guard.ended = maxEnded + 1
	conn.guard.mu.Unlock()
	if _, _, _, err := request(conn, time.Minute, get); classOf(err) != unsent {
		t.Errorf("above maxEnded: got %v", err)
	}
}

// TestUnreadFrames checks that a connection ends if its unread frames exceed the
// limit.
func TestUnreadFrames(t *testing.T) {
	proceed := make(chan struct{})
	conn := serve(t, func(c *quic.Conn) {
		settings(c)
		s, err := c.OpenUniStream()
		if err != nil {
			return
		}
		s.Write([]byte{streamEncoder})
		go func() {
			<-proceed
			for err == nil {
				_, err = s.Write([]byte{0})
			}
		}()
	}, func(*quic.Conn, *quic.Stream) {})
	opened := func() bool {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		return conn.streams[streamEncoder]
	}
	for !opened() {
		runtime.Gosched()
	}
	conn.guard.mu.Lock()
	conn.guard.total += maxStored
	conn.guard.mu.Unlock()
	close(proceed)
	if _, _, _, err := request(conn, time.Minute, get); classOf(err) != violation && classOf(err) != unsent {
		t.Fatalf("got %v", err)
	}
	<-conn.Context().Done()
}
