package http_test

import (
	"io"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/anyurl/fetch/internal/test/faultnet"
)

// A frameServer is one HTTP/2 connection of a server that writes single frames.
type frameServer struct {
	mu      sync.Mutex // held while a frame is written
	framer  *http2.Framer
	windows map[uint32]chan struct{} // receive an element for each WINDOW_UPDATE of a stream
}

// serveFrames returns a step that serves HTTP/2 with one call of serve for each
// request. It answers SETTINGS and PING.
func serveFrames(serve func(s *frameServer, stream uint32)) faultnet.Step {
	return faultnet.Do("frames", func(c *faultnet.Conn) error {
		var streams sync.WaitGroup
		defer streams.Wait()
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return nil
		}
		s := &frameServer{framer: http2.NewFramer(c, c), windows: map[uint32]chan struct{}{}}
		s.write(func(f *http2.Framer) error { return f.WriteSettings() })
		for {
			f, err := s.framer.ReadFrame()
			if err != nil {
				s.mu.Lock()
				defer s.mu.Unlock()
				for _, window := range s.windows {
					close(window)
				}
				return nil
			}
			s.handle(f, func(stream uint32) { streams.Go(func() { serve(s, stream) }) })
		}
	})
}

func (s *frameServer) handle(f http2.Frame, serve func(stream uint32)) {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			s.write(func(f *http2.Framer) error { return f.WriteSettingsAck() })
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			data := f.Data
			s.write(func(f *http2.Framer) error { return f.WritePing(true, data) })
		}
	case *http2.WindowUpdateFrame:
		select {
		case s.window(f.StreamID) <- struct{}{}:
		default:
		}
	case *http2.HeadersFrame:
		s.window(f.StreamID)
		serve(f.StreamID)
	}
}

func (s *frameServer) window(stream uint32) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.windows[stream] == nil {
		s.windows[stream] = make(chan struct{}, 1)
	}
	return s.windows[stream]
}

// write calls f and reports whether the connection is open.
func (s *frameServer) write(f func(*http2.Framer) error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.framer) == nil
}

// headers sends a response head with the given status.
func (s *frameServer) headers(stream uint32, status string, end bool, fields ...string) bool {
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	encoder.WriteField(hpack.HeaderField{Name: ":status", Value: status})
	for i := 0; i+1 < len(fields); i += 2 {
		encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return s.write(func(f *http2.Framer) error {
		return f.WriteHeaders(http2.HeadersFrameParam{
			StreamID: stream, BlockFragment: []byte(block.String()), EndHeaders: true, EndStream: end,
		})
	})
}

// data sends text in frames of at most 16 KiB.
func (s *frameServer) data(stream uint32, text string, end bool) bool {
	for {
		n := min(len(text), 16<<10)
		part := text[:n]
		text = text[n:]
		last := text == ""
		if !s.write(func(f *http2.Framer) error { return f.WriteData(stream, end && last, []byte(part)) }) {
			return false
		}
		if last {
			return true
		}
	}
}
