package http

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Limits of a connection. Those on time begin where the door's end.
const (
	maxHead      = 256 << 10
	maxField     = 100 << 10 // one, as in curl
	maxFields    = 500
	maxInterim   = 5
	shakeTime    = 10 * time.Second
	firstByte    = 30 * time.Second
	idleTime     = 45 * time.Second // less than the door lets a read wait
	readBuffer   = 32 << 10
	maxTransport = 64
)

// A pool holds one Transport for each set of requests that may share a
// connection.
type pool struct {
	env  fetch.Env
	opts *Options

	mu         sync.Mutex
	transports map[poolKey]*http.Transport
	watching   bool
	exchanges  int // under way

	// Of its own, because closing what is idle closes connections under mu.
	secureMu sync.Mutex
	secure   map[*ending]struct{} // connections under TLS
}

type poolKey struct {
	leave string // fetch.Net.Key
	proxy string // with its credentials, or ""
	old   bool   // HTTP/1.1 alone
}

func (p *pool) get(key poolKey, via *proxyTo) *http.Transport {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.transports[key]
	if t == nil {
		if len(p.transports) >= maxTransport {
			p.closeIdle()
			clear(p.transports)
		}
		t = p.newTransport(key, via)
		if p.transports == nil {
			p.transports = map[poolKey]*http.Transport{}
		}
		p.transports[key] = t
	}
	if !p.watching && p.env.Done != nil {
		p.watching = true
		go p.watch()
	}
	return t
}

// watch ends with the Client.
func (p *pool) watch() {
	<-p.env.Done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep()
}

func (p *pool) closeIdle() {
	for _, t := range p.transports {
		t.CloseIdleConnections()
	}
}

// sweep ends what is idle, and everything after the last exchange: net/http
// keeps an HTTP/2 connection whose last stream is still being cancelled.
func (p *pool) sweep() {
	p.closeIdle()
	if p.exchanges > 0 {
		return
	}
	p.secureMu.Lock()
	defer p.secureMu.Unlock()
	for e := range p.secure {
		e.Conn.Close()
	}
	clear(p.secure)
}

func (p *pool) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exchanges++
}

func (p *pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exchanges--
	if p.closed() {
		p.sweep()
	}
}

// add keeps a connection under TLS until it is closed.
func (p *pool) add(e *ending) {
	p.secureMu.Lock()
	if p.secure == nil {
		p.secure = map[*ending]struct{}{}
	}
	p.secure[e] = struct{}{}
	p.secureMu.Unlock()
	if p.closed() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sweep()
	}
}

func (p *pool) remove(e *ending) {
	p.secureMu.Lock()
	defer p.secureMu.Unlock()
	delete(p.secure, e)
}

// closed reports whether the Client is, so that nothing may stay idle.
func (p *pool) closed() bool {
	select {
	case <-p.env.Done:
		return true
	default:
		return false
	}
}

func (p *pool) newTransport(key poolKey, via *proxyTo) *http.Transport {
	d := &dialer{pool: p, old: key.old || via != nil, connect: p.connect}
	if via != nil {
		d.connect = via.connect
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!d.old)
	return &http.Transport{
		DialContext:            d.plain,
		DialTLSContext:         d.tls,
		Protocols:              protocols,
		DisableCompression:     true,
		ResponseHeaderTimeout:  firstByte,
		IdleConnTimeout:        idleTime,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    8,
		MaxResponseHeaderBytes: maxHead,
		ReadBufferSize:         readBuffer,
	}
}

func (p *pool) connect(ctx context.Context, addr string) (net.Conn, error) {
	return p.env.Net.DialContext(ctx, "tcp", addr)
}
