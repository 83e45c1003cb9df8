// Package ordered lets several goroutines write to one stream at a time and
// keeps the stream in a fixed order.
package ordered

import (
	"context"
	"io"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
)

// A Stream is divided into slots. The bytes of a slot stay together and follow
// the bytes of all earlier slots. A Stream buffers a limited number of bytes.
// A writer that exceeds the limit waits for the earlier slots.
type Stream struct {
	ctx      context.Context
	w        io.Writer
	terminal bool // reports whether w is a terminal

	mu      sync.Mutex
	changed sync.Cond      // signals changes of current and ended
	slots   int            // number of slots so far
	current int            // number of the slot that may write to w
	ended   map[int][]byte // contents of slots that ended early
	size    int            // total bytes in ended
	free    [][]byte       // buffers for the next slots
	err     error          // first error of w
}

// Limits of the buffers.
const (
	maxSlotBuffer = 256 << 10 // buffered bytes of one slot
	maxEndedBytes = 8 << 20   // buffered bytes of slots that ended early
	maxEndedSlots = 4096
	maxFree       = 16 // buffers for the next slots
)

// New returns a Stream that writes to w. Waiting writers fail when ctx ends.
func New(ctx context.Context, w io.Writer) *Stream {
	s := &Stream{ctx: ctx, w: w, terminal: terminal.Is(w), ended: map[int][]byte{}}
	s.changed.L = &s.mu
	return s
}

// Slot returns the next slot. Later slots wait until the caller has called End.
// Slot must not be called by several goroutines at a time.
func (o *Stream) Slot() *Slot {
	o.slots++
	return &Slot{stream: o, number: o.slots - 1}
}

// wait blocks until done returns true or ctx ends. The caller holds o.mu.
func (o *Stream) wait(done func() bool) error {
	if done() {
		return nil
	}
	stop := context.AfterFunc(o.ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed.Broadcast()
	})
	defer stop()
	for !done() {
		if o.ctx.Err() != nil {
			return context.Cause(o.ctx)
		}
		o.changed.Wait()
	}
	return nil
}

func (o *Stream) write(p []byte) error {
	if o.err == nil && len(p) > 0 {
		_, o.err = o.w.Write(p)
	}
	return o.err
}

// recycle keeps the memory of p for another slot.
func (o *Stream) recycle(p []byte) {
	if cap(p) > 0 && len(o.free) < maxFree {
		o.free = append(o.free, p[:0])
	}
}

// A Slot is a part of a Stream. It is not safe for concurrent use.
type Slot struct {
	stream  *Stream
	number  int
	buffer  []byte
	current bool // if true, Write writes to the Stream
}

// Terminal reports whether the Stream ends on a terminal.
func (s *Slot) Terminal() bool { return s.stream.terminal }

// Write writes p to the Stream, or to a buffer if earlier slots have not ended.
func (s *Slot) Write(p []byte) (int, error) {
	if !s.current {
		if err := s.reserve(len(p)); err != nil {
			return 0, err
		}
	}
	if !s.current {
		s.buffer = append(s.buffer, p...)
		return len(p), nil
	}
	return s.stream.w.Write(p) // no other slot writes at this time
}

// reserve makes room for n more bytes in the buffer. If they exceed the limit,
// reserve waits until s is the current slot.
func (s *Slot) reserve(n int) error {
	o := s.stream
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current != s.number && len(s.buffer)+n <= maxSlotBuffer {
		if k := len(o.free); s.buffer == nil && k > 0 {
			s.buffer, o.free = o.free[k-1], o.free[:k-1]
		}
		return nil
	}
	if err := o.wait(func() bool { return o.current == s.number }); err != nil {
		return err
	}
	s.current = true
	err := o.write(s.buffer)
	o.recycle(s.buffer)
	s.buffer = nil
	return err
}

// End closes the slot. The Stream writes the buffered bytes as soon as all
// earlier slots have ended.
func (s *Slot) End() error {
	o := s.stream
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current != s.number {
		room := func() bool {
			return o.current == s.number || o.size+len(s.buffer) <= maxEndedBytes && len(o.ended) < maxEndedSlots
		}
		if err := o.wait(room); err != nil {
			return err
		}
	}
	o.ended[s.number], o.size = s.buffer, o.size+len(s.buffer)
	s.buffer = nil
	o.advance()
	return o.err
}

// advance writes the contents of the current slot, if the slot has ended, and
// of all ended slots that follow. It calls Write once for all of them.
func (o *Stream) advance() {
	var all []byte
	for {
		buffer, ok := o.ended[o.current]
		if !ok {
			break
		}
		delete(o.ended, o.current)
		o.size -= len(buffer)
		o.current++
		if len(all) == 0 {
			all, buffer = buffer, all
		}
		all = append(all, buffer...)
		o.recycle(buffer)
	}
	o.write(all)
	o.recycle(all)
	o.changed.Broadcast()
}
