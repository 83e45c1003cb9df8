package main

import (
	"context"
	"io"
	"sync"
)

// ordered is a stream that many write side by side, each through a slot of its
// own: what one slot gets comes whole, and after what the slots before it got.
// A little is held back in memory; whoever has more waits for its turn.
type ordered struct {
	ctx      context.Context
	w        io.Writer
	terminal bool // w ends on one

	mu     sync.Mutex
	turned sync.Cond      // next or parked have changed
	slots  int            // given out
	next   int            // whose turn it is
	parked map[int][]byte // of slots that ended before their turn
	size   int            // bytes in parked
	free   [][]byte       // memory for the next slots
	err    error          // of w, sticky
}

const (
	maxHeld   = 256 << 10 // of one slot before its turn
	maxParked = 8 << 20   // of all that ended before theirs
	maxSlots  = 4096      // that ended before theirs
	maxFree   = 16
)

func newOrdered(ctx context.Context, w io.Writer) *ordered {
	o := &ordered{ctx: ctx, w: w, terminal: terminal(w), parked: map[int][]byte{}}
	o.turned.L = &o.mu
	return o
}

// slot gives out the next place. It must be ended, or those after it wait for
// ever. Slots are given out by one goroutine.
func (o *ordered) slot() *slot {
	o.slots++
	return &slot{o: o, place: o.slots - 1}
}

// wait waits until done or the end of ctx; o.mu is held.
func (o *ordered) wait(done func() bool) error {
	if done() {
		return nil
	}
	stop := context.AfterFunc(o.ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.turned.Broadcast()
	})
	defer stop()
	for !done() {
		if o.ctx.Err() != nil {
			return context.Cause(o.ctx)
		}
		o.turned.Wait()
	}
	return nil
}

func (o *ordered) write(p []byte) error {
	if o.err == nil && len(p) > 0 {
		_, o.err = o.w.Write(p)
	}
	return o.err
}

// recycle keeps the memory of what was written.
func (o *ordered) recycle(p []byte) {
	if cap(p) > 0 && len(o.free) < maxFree {
		o.free = append(o.free, p[:0])
	}
}

// slot is one place in an ordered. It is not safe for concurrent use.
type slot struct {
	o     *ordered
	place int
	held  []byte
	mine  bool // it is this slot's turn, and stays so until it ends
}

func (s *slot) Write(p []byte) (int, error) {
	if !s.mine {
		if err := s.take(len(p)); err != nil {
			return 0, err
		}
	}
	if !s.mine {
		s.held = append(s.held, p...)
		return len(p), nil
	}
	return s.o.w.Write(p) // nobody else writes now
}

// take makes it this slot's turn: at once if it is, and after a wait if n
// more bytes are too many to hold.
func (s *slot) take(n int) error {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next != s.place && len(s.held)+n <= maxHeld {
		if k := len(o.free); s.held == nil && k > 0 {
			s.held, o.free = o.free[k-1], o.free[:k-1]
		}
		return nil
	}
	if err := o.wait(func() bool { return o.next == s.place }); err != nil {
		return err
	}
	s.mine = true
	err := o.write(s.held)
	o.recycle(s.held)
	s.held = nil
	return err
}

// end lets the next slot have its turn. What is held stays for this one's.
func (s *slot) end() error {
	o := s.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next != s.place {
		room := func() bool {
			return o.next == s.place || o.size+len(s.held) <= maxParked && len(o.parked) < maxSlots
		}
		if err := o.wait(room); err != nil {
			return err
		}
	}
	o.parked[s.place], o.size = s.held, o.size+len(s.held)
	s.held = nil
	var all []byte // in one write
	for {
		held, ok := o.parked[o.next]
		if !ok {
			break
		}
		delete(o.parked, o.next)
		o.size -= len(held)
		o.next++
		if len(all) == 0 {
			all, held = held, all
		}
		all = append(all, held...)
		o.recycle(held)
	}
	o.write(all)
	o.recycle(all)
	o.turned.Broadcast()
	return o.err
}
