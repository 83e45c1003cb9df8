package http

import (
	"net"
	"net/http/httptrace"
	"sync"

	"github.com/anyurl/fetch/fetch/trace"
)

// h2Events converts the events of one request of net/http to events of a Trace.
// Package net/http reports them from several goroutines, in any order.
type h2Events struct {
	trace *trace.Trace
	sent  func() // called when the head of the request was sent
	limit *sendLimit

	mu    sync.Mutex
	conn  net.Conn // connection of the last attempt
	tries int
	last  trace.Phase // last phase that was reported
	head  headTrace
}

func newH2Events(t *trace.Trace, sent func(), limit *sendLimit) *h2Events {
	return &h2Events{trace: t, sent: sent, limit: limit, last: trace.Secured, head: headTrace{trace: t, proto: "HTTP/2"}}
}

func (e *h2Events) clientTrace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn:          e.gotConn,
		WroteHeaderField: e.wroteField,
		WroteHeaders:     e.wroteHead,
		WroteRequest: func(httptrace.WroteRequestInfo) {
			e.limit.stop()
			e.reached(trace.RequestSent)
		},
		GotFirstResponseByte: func() { e.reached(trace.FirstByte) },
	}
}

// gotConn is called for each connection on which the request is tried.
func (e *h2Events) gotConn(info httptrace.GotConnInfo) {
	e.limit.start()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tries++; e.tries > 1 {
		e.trace.Restarted()
	}
	e.conn, e.last, e.head.fields = info.Conn, trace.Secured, nil
	if guard, ok := info.Conn.(*frameGuard); ok {
		guard.requestSent()
	}
	if info.Reused {
		reportReused(e.trace, info.Conn)
	} else {
		e.trace.Reached(trace.Secured, info.Conn)
	}
}

func (e *h2Events) wroteField(name string, values []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.head.add(name, values)
}

func (e *h2Events) wroteHead() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.head.report()
	e.sent()
}

// reached reports all phases up to p that were not reported yet.
func (e *h2Events) reached(p trace.Phase) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.last < p {
		e.last++
		e.trace.Reached(e.last, e.conn)
	}
}

// responded returns the connection of the response. The response can arrive
// before net/http calls WroteHeaders, so responded also reports the head of the
// request.
func (e *h2Events) responded() net.Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.head.report()
	return e.conn
}
