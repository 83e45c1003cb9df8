package telnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"golang.org/x/text/encoding/charmap"
)

func screenPlan(*fetch.Request) ([]scheme.Step, error) {
	return []scheme.Step{{Verb: "CONNECT"}, {Verb: "NEGOTIATE", Arg: model}, {Verb: "SCREEN"}}, nil
}

// model is the terminal type for tn3270, with 24 rows of 80 columns and without
// the extended data stream. Hosts do not query the capabilities of such a
// terminal.
const model = "IBM-3278-2"

const (
	maxRecord  = 256 << 10        // maximum size of a record in bytes
	maxText    = 4 << 10          // maximum length of the text before tn3270 is negotiated, in bytes
	settleTime = time.Second / 2  // default of Options.Settle
	screenTime = 10 * time.Second // limit for a screen that does not stop changing
	readTime   = time.Minute      // limit for the first output of the host
)

// tn3270 retrieves the first screen of a tn3270 host.
func (o Options) tn3270(
	ctx context.Context, env fetch.Env, t fetch.Target, req *fetch.Request,
) (*fetch.Response, error) {
	codes, err := o.codePage()
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Document, Media: "text/plain; charset=utf-8", Size: -1, Proto: "TN3270"}
	if o.JSON {
		resp.Media = "application/json"
	}
	if req.Op == fetch.Stat {
		resp.Body = statResponse().Body
		return resp, nil
	}
	reportTarget(t, req)
	netConn, err := env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	defer netConn.Close()
	defer context.AfterFunc(ctx, func() { netConn.Close() })()
	req.Trace.Reached(trace.RequestSent, netConn)
	h := newHost(req.Trace.Tap(netConn))
	if h.settle = o.Settle; h.settle <= 0 {
		h.settle = settleTime
	}
	if err := h.read(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	req.Trace.Reached(trace.FirstByte, netConn)
	text := h.screen.text(codes)
	if o.JSON {
		text = h.screen.json(codes)
	}
	resp.Peer, resp.Size, resp.Body = fetch.PeerOf(netConn), int64(len(text)), sessions.NewBody(bytes.NewReader(text), nil)
	return resp, nil
}

func (o Options) codePage() (*charmap.Charmap, error) {
	switch o.CodePage {
	case 0, 37:
		return charmap.CodePage037, nil
	case 1047:
		return charmap.CodePage1047, nil
	}
	return nil, fetch.Usage.Errorf("unknown code page %d: must be 37 or 1047", o.CodePage)
}

// A host reads the screen of a tn3270 host from a connection.
type host struct {
	conn      net.Conn
	settle    time.Duration
	options   options
	screen    *screen
	record    []byte
	hasOutput bool   // the host has written to the screen
	text      []byte // text received before tn3270 was negotiated
}

func newHost(conn net.Conn) *host {
	both := map[byte]bool{optBinary: true, optEOR: true}
	return &host{conn: conn, screen: newScreen(), options: options{
		agreeUs:  map[byte]bool{optBinary: true, optEOR: true, optTerminal: true},
		agreeHim: both,
		terminal: model,
	}}
}

// read processes records of the host until the screen no longer changes.
func (h *host) read() error {
	buf := make([]byte, 4<<10)
	var first time.Time // time of the first output
	deadline := time.Now().Add(readTime)
	for {
		h.conn.SetReadDeadline(deadline)
		n, err := h.conn.Read(buf)
		written, drawErr := h.process(buf[:n])
		if drawErr != nil {
			return drawErr
		}
		if err != nil {
			return h.readError(err)
		}
		if !written {
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

// process splits received text into records and executes the records. It
// reports whether a record has written to the screen.
func (h *host) process(text []byte) (written bool, err error) {
	for _, b := range text {
		switch h.options.parseByte(b) {
		case recordEnd:
			if err := h.screen.draw(h.record); err != nil {
				return written, err
			}
			h.record, written, h.hasOutput = h.record[:0], true, true
		case dataByte:
			if !h.options.us[optEOR] && !h.options.him[optEOR] {
				h.text = append(h.text, b)[:min(len(h.text)+1, maxText)]
				continue
			}
			if len(h.record) == maxRecord {
				return written, fetch.Protocol.Errorf("tn3270 record exceeds %d bytes", maxRecord)
			}
			h.record = append(h.record, b)
		}
	}
	if len(h.options.out) > 0 {
		h.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
		h.conn.Write(h.options.out) // the next Read reports an error
		h.options.out = h.options.out[:0]
	}
	return written, nil
}

// readError handles a read error or timeout. It returns nil if the screen is
// complete.
func (h *host) readError(err error) error {
	timedOut := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case h.hasOutput && len(h.record) == 0 && (timedOut || fetch.FaultOf(err) == fetch.Connect):
		return nil
	case len(h.record) > 0 && !timedOut:
		return fetch.Truncated.Errorf("connection closed in the middle of a tn3270 record: %w", err)
	case h.hasOutput && timedOut:
		return nil
	case timedOut:
		return fetch.Timeout.Errorf("host sent no screen within %v", readTime)
	case err == io.EOF:
		return h.noScreen()
	}
	return err
}

// noScreen returns the error for a connection that ended before a screen. The
// text that the host sent before or instead of a screen gives the reason.
func (h *host) noScreen() error {
	text := strings.Join(strings.Fields(string(h.text)), " ")
	if text == "" {
		return fetch.Connect.Errorf("host closed the connection before it sent a tn3270 screen")
	}
	return fetch.Protocol.Errorf("host sent no tn3270 screen, but this text: %s", tty.Escape(text[:min(len(text), 200)]))
}
