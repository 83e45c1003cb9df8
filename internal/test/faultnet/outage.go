package faultnet

import (
	"context"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// An Outage is a way in which the network of a connection fails.
type Outage uint8

const (
	CutOff   Outage = iota // both directions end with a FIN; a connection attempt is refused
	Aborted                // the connection is reset; a connection attempt is refused
	HalfOpen               // the server forgot the connection: it sends nothing, and resets the connection when the client writes
	Frozen                 // all further packets are lost
	Delayed                // no data is forwarded for OutageDelay
	Trickle                // further bytes of the server arrive one by one, with pauses of TricklePause
)

// Outages returns all outages.
func Outages() []Outage { return []Outage{CutOff, Aborted, HalfOpen, Frozen, Delayed, Trickle} }

// String returns the name of the outage.
func (o Outage) String() string {
	return [...]string{"cut", "reset", "half-open", "freeze", "delay", "trickle"}[o]
}

// Durations of outages. A connection attempt is delayed for a quarter of
// OutageDelay.
const (
	OutageDelay  = 20 * time.Second
	TricklePause = 10 * time.Second
)

// A Part is a part of a response.
type Part uint8

const (
	Before Part = iota // before the first byte
	Begun              // after the first byte
	Within             // after half of the bytes
	After              // after the last byte
)

// A Place is a point in the traffic of a client.
type Place struct {
	Conn int // number of the connection, from 1
	Turn int // number of the response on this connection, from 1; 0 is the connection attempt
	Part Part
}

// Wires relays the connections of a client, and makes one of them fail at a
// Place. It counts responses: a response begins with the first bytes from the
// server after bytes from the client. Wires is safe for concurrent use.
type Wires struct {
	outage Outage
	at     Place
	intact [][]int // lengths of all responses of a run without an outage

	mu    sync.Mutex
	wires []*wire
	hit   bool
	tasks sync.WaitGroup
}

// NewWires returns Wires with an outage at a Place. The argument intact is the
// result of Lengths after a run without an outage. If at is the zero Place, there
// is no outage.
func NewWires(o Outage, at Place, intact [][]int) *Wires {
	return &Wires{outage: o, at: at, intact: intact}
}

// Lengths returns the number of bytes of each response of each connection.
func (w *Wires) Lengths() (all [][]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.wires {
		all = append(all, c.lengths)
	}
	return all
}

// Hit reports whether the Place was reached.
func (w *Wires) Hit() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hit
}

// Fail makes all open connections fail with the outage o. It returns the number
// of these connections.
func (w *Wires) Fail(o Outage) (n int) {
	w.mu.Lock()
	open := []*wire{}
	for _, c := range w.wires {
		if !c.ended {
			open = append(open, c)
		}
	}
	w.hit = true
	w.mu.Unlock()
	for _, c := range open {
		c.fail(o)
	}
	return len(open)
}

// Close ends all connections and waits for the goroutines of w.
func (w *Wires) Close() {
	w.mu.Lock()
	for _, c := range w.wires {
		c.client.Close()
		c.server.Close()
	}
	w.mu.Unlock()
	w.tasks.Wait()
}

// Dial returns a function that connects by calling dial, and relays the
// connections.
func (w *Wires) Dial(dial Dial) Dial {
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		w.mu.Lock()
		nth := len(w.wires) + 1
		failing := w.at == Place{Conn: nth} && !w.hit
		w.hit = w.hit || failing
		w.mu.Unlock()
		if failing {
			if err := w.failDial(ctx, network, to); err != nil {
				return nil, err
			}
		}
		server, err := dial(ctx, network, to)
		if err != nil {
			return nil, err
		}
		c := w.relay(server, nth)
		if failing && w.outage == HalfOpen {
			c.fail(HalfOpen)
		}
		return c.near, nil
	}
}

// failDial delays a connection attempt or returns its error.
func (w *Wires) failDial(ctx context.Context, network string, to netip.AddrPort) error {
	fail := func(err error) error {
		return &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	switch w.outage {
	case CutOff, Aborted:
		return fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case Frozen:
		<-ctx.Done()
		return fail(ctx.Err())
	case Delayed:
		select {
		case <-time.After(OutageDelay / 4):
		case <-ctx.Done():
			return fail(ctx.Err())
		}
	}
	return nil
}
