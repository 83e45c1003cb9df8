// Package ordered combines the output of several goroutines into one stream.
// The outputs do not mix and are written in a fixed order.
package ordered

import (
	"context"
	"io"
	"sync"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
)

// A Stream combines the contents of several slots in the order of their
// creation. It buffers a limited number of bytes. A slot that exceeds the limit
// waits until all earlier slots are closed.
type Stream struct {
	ctx      context.Context
	w        io.Writer
	terminal bool // reports whether w is a terminal

	mu      sync.Mutex
	changed sync.Cond             // signals changes of the fields current and ended
	slots   int                   // number of slots so far
	current int                   // number of the slot that may write to w
	turns   map[int]chan struct{} // results of Turn of later slots
	ended   map[int][]byte        // contents of slots that were closed before their turn
	size    int                   // total bytes in ended
	free    [][]byte              // buffers for the next slots
	err     error                 // first error of w
}

// Limits of the buffers.
const (
	maxSlotBuffer = 256 << 10 // buffered bytes of one slot
	maxEndedBytes = 8 << 20   // buffered bytes of slots that were closed before their turn
	maxEndedSlots = 4096
	maxFree       = 16 // buffers for the next slots
)

// New returns a Stream that writes to w. If ctx is canceled, blocked calls of
// Write and End return an error.
func New(ctx context.Context, w io.Writer) *Stream {
	s := &Stream{ctx: ctx, w: w, terminal: terminal.Is(w), turns: map[int]chan struct{}{}, ended: map[int][]byte{}}
	s.changed.L = &s.mu
	return s
}

// Slot returns a new slot, which follows all earlier slots. The caller must
// call End, because later slots wait for it. Slot must not be called
// concurrently.
func (o *Stream) Slot() *Slot {
	o.slots++
	return &Slot{stream: o, number: o.slots - 1}
}

// wait blocks until done returns true or ctx is canceled. The caller must hold
// o.mu.
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

// recycle saves the buffer p so that another slot can use it.
func (o *Stream) recycle(p []byte) {
	if cap(p) > 0 && len(o.free) < maxFree {
		o.free = append(o.free, p[:0])
	}
}

// A Slot is a writer for one part of a Stream. It is not safe for concurrent
// use.
type Slot struct {
	stream  *Stream
	number  int
	buffer  []byte
	current bool // if true, Write writes to the writer of the Stream
}

// Terminal reports whether the Stream writes to a terminal.
func (s *Slot) Terminal() bool { return s.stream.terminal }

// Turn returns a channel that is closed as soon as all earlier slots are closed.
// Until then, the slot may have to wait for earlier slots, but no earlier slot
// waits for it.
func (s *Slot) Turn() <-chan struct{} {
	o := s.stream
	o.mu.Lock()
	defer o.mu.Unlock()
	turn := o.turns[s.number]
	if turn == nil {
		turn = make(chan struct{})
		if o.current >= s.number {
			close(turn)
		} else {
			o.turns[s.number] = turn
		}
	}
	return turn
}

// Write writes p to the Stream. If earlier slots are still open, it writes p to
// a buffer instead.
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

// reserve prepares the buffer for n more bytes. If the buffer would become too
// large, reserve waits until all earlier slots are closed.
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

// End closes the slot. Buffered bytes are written as soon as all earlier slots
// are closed.
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

// advance ends the current slot, and all following slots that are already
// closed. It writes their contents with a single call of Write.
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
		if turn := o.turns[o.current]; turn != nil {
			close(turn)
			delete(o.turns, o.current)
		}
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
