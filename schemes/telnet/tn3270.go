package telnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"golang.org/x/text/encoding/charmap"
)

func screenPlan(*fetch.Request) ([]fetch.Step, error) {
	return []fetch.Step{{Verb: "CONNECT"}, {Verb: "NEGOTIATE", Arg: model}, {Verb: "SCREEN"}}, nil
}

// model is the terminal that we are: 24 lines of 80 characters, and no
// extended data stream, so that no host asks what we can do.
const model = "IBM-3278-2"

const (
	maxRecord  = 256 << 10
	maxText    = 4 << 10          // of what comes before the host speaks tn3270
	settleTime = time.Second / 2  // the default of Options.Settle
	screenTime = 10 * time.Second // for a screen that goes on changing
	readTime   = time.Minute      // for one to begin
)

// tn3270 brings the first screen that a host shows.
func (o Options) tn3270(ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request) (*fetch.Response, error) {
	codes, err := o.codePage()
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Document, Media: "text/plain; charset=utf-8", Size: -1, Proto: "TN3270"}
	if o.JSON {
		resp.Media = "application/json"
	}
	if req.Op == fetch.Stat {
		resp.Body = nobody().Body
		return resp, nil
	}
	announce(t, req)
	door, err := env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	defer door.Close()
	defer context.AfterFunc(ctx, func() { door.Close() })()
	req.Trace.Reached(fetch.Asked, door)
	h := newHost(req.Trace.Tap(door))
	if h.settle = o.Settle; h.settle <= 0 {
		h.settle = settleTime
	}
	if err := h.read(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	req.Trace.Reached(fetch.Answered, door)
	text := h.screen.text(codes)
	if o.JSON {
		text = h.screen.json(codes)
	}
	resp.Peer, resp.Size, resp.Body = fetch.PeerOf(door), int64(len(text)), &page{text: bytes.NewReader(text)}
	return resp, nil
}

// A page is a screen as a Body.
type page struct {
	text   *bytes.Reader
	closed atomic.Bool
}

func (p *page) Read(b []byte) (int, error) {
	if p.closed.Load() {
		return 0, net.ErrClosed
	}
	return p.text.Read(b)
}

func (p *page) Close() error {
	p.closed.Store(true)
	return nil
}

func (o Options) codePage() (*charmap.Charmap, error) {
	switch o.CodePage {
	case 0, 37:
		return charmap.CodePage037, nil
	case 1047:
		return charmap.CodePage1047, nil
	}
	return nil, fetch.Usage.Errorf("code page %d is neither 37 nor 1047", o.CodePage)
}

// A host is what shows screens.
type host struct {
	conn    net.Conn
	settle  time.Duration
	options options
	screen  *screen
	record  []byte
	drawn   bool   // something is on the screen
	text    []byte // what was said in another way
}

func newHost(conn net.Conn) *host {
	both := map[byte]bool{optBinary: true, optEOR: true}
	return &host{conn: conn, screen: newScreen(), options: options{
		agreeUs:  map[byte]bool{optBinary: true, optEOR: true, optTerminal: true},
		agreeHim: both,
		terminal: model,
	}}
}

// read draws what comes until the screen stays as it is.
func (h *host) read() error {
	buf := make([]byte, 4<<10)
	var first time.Time // when something was drawn
	deadline := time.Now().Add(readTime)
	for {
		h.conn.SetReadDeadline(deadline)
		n, err := h.conn.Read(buf)
		drew, bad := h.digest(buf[:n])
		if bad != nil {
			return bad
		}
		if err != nil {
			return h.ended(err)
		}
		if !drew {
			continue
		}
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		if deadline = first.Add(screenTime); !h.screen.locked && now.Add(h.settle).Before(deadline) {
			deadline = now.Add(h.settle)
		}
	}
}

// digest takes what was read apart into records and draws them.
func (h *host) digest(text []byte) (drew bool, err error) {
	for _, b := range text {
		switch h.options.feed(b) {
		case record:
			if err := h.screen.draw(h.record); err != nil {
				return drew, err
			}
			h.record, drew, h.drawn = h.record[:0], true, true
		case data:
			if !h.options.us[optEOR] && !h.options.him[optEOR] {
				h.text = append(h.text, b)[:min(len(h.text)+1, maxText)]
				continue
			}
			if len(h.record) == maxRecord {
				return drew, fetch.Protocol.Errorf("record of more than %d bytes", maxRecord)
			}
			h.record = append(h.record, b)
		}
	}
	if len(h.options.out) > 0 {
		h.conn.SetWriteDeadline(time.Now().Add(sendTime))
		h.conn.Write(h.options.out) // or the next Read tells that nobody hears
		h.options.out = h.options.out[:0]
	}
	return drew, nil
}

// ended says what the end of the stream, or of our patience, amounts to.
func (h *host) ended(err error) error {
	late := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case h.drawn && len(h.record) == 0 && (late || fetch.FaultOf(err) == fetch.Connect):
		return nil
	case len(h.record) > 0 && !late:
		return fetch.Truncated.Errorf("connection ended within a screen: %w", err)
	case h.drawn && late:
		return nil
	case late:
		return fetch.Timeout.Errorf("no screen in %v", readTime)
	case err == io.EOF:
		return fetch.Protocol.Errorf("host shows no screen%s", h.said())
	}
	return err
}

// said is what came instead of a screen.
func (h *host) said() string {
	text := strings.Join(strings.Fields(string(h.text)), " ")
	if text == "" {
		return ""
	}
	return ", it says: " + tty.Escape(text[:min(len(text), 200)])
}
