package capture

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/mitm"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc/record"
)

const (
	defaultMaxRequest = 256 << 20
	stall             = time.Minute // time in which a client must send or read some bytes

	// maxHeads limits the memory for the heads of the responses in progress. Each has
	// headCopies copies.
	maxHeads   = 24 << 20
	headCopies = 3
)

// ServeHTTP sends a request and passes the response to the client. If the
// response is incomplete, it closes the connection, so that the client notices.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, err := h.newExchange(w, r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	ctx := r.Context()
	resp, err := h.Client.Do(ctx, x.Request)
	if err == nil {
		held := int64(headCopies * len(resp.Head))
		defer h.heads.Add(-held)
		if h.heads.Add(held) > maxHeads {
			resp.Body.Close()
			err = fetch.TooLarge.Errorf("the headers of all responses in progress need more than %d bytes of memory", maxHeads)
		}
	}
	if err != nil {
		x.Err = err
		if failed := h.Store(context.WithoutCancel(ctx), x); failed != nil {
			err = failed
		}
		h.refuse(w, r, err)
		return
	}
	x.Response = resp
	x.record.Respond(resp)
	x.record.OmitBody()
	if h.Responded != nil {
		h.Responded(x)
	}
	if !h.pass(w, r, x) {
		panic(http.ErrAbortHandler) // net/http recovers it and closes the connection or the stream
	}
}

// newExchange converts a request of a client. It stores the body, so that the
// length is known before the request is sent.
func (h *Handler) newExchange(w http.ResponseWriter, r *http.Request) (*Exchange, error) {
	u, err := fetch.ParseURL(r.RequestURI)
	if err != nil {
		return nil, err
	}
	u = u.WithoutFragment()
	if _, login := u.Userinfo(); login {
		u = u.WithoutUserinfo() // clients send Authorization
	}
	from, err := h.source(r, u)
	if err != nil {
		return nil, err
	}
	x := &Exchange{payload: h.Record.Spool(), body: h.Record.Spool()}
	options := h.Record
	options.Undecoded = true
	x.record = record.NewExchange(u, h.Client.Scheme(u.Scheme()), options)
	x.Request = &fetch.Request{URL: u, From: from, Header: fieldsOf(r), Trace: x.record.Trace(nil)}
	x.Request.Outgoing = &outgoing.Message{Method: r.Method}
	if err := h.storeBody(w, r, x); err != nil {
		x.Free()
		return nil, err
	}
	return x, nil
}

// source returns the document that supplied the URL u.
func (h *Handler) source(r *http.Request, u uri.URI) (*fetch.Source, error) {
	if h.From != nil {
		return h.From(r, u)
	}
	return PublicPage(u), nil
}

// PublicPage returns a Source for a link from a page of an unknown public
// server. The page has the scheme of u.
func PublicPage(u uri.URI) *fetch.Source {
	page, err := uri.Parse(u.Scheme() + ":")
	if err != nil {
		page = uri.URI{} // links from a Source without a scheme are all denied
	}
	return &fetch.Source{URL: page}
}

// fieldsOf returns the header fields of a request for the server.
func fieldsOf(r *http.Request) fetch.Header {
	fields := fetch.Header{}
	for _, name := range sortedNames(r.Header) {
		for _, value := range r.Header[name] {
			fields = append(fields, fetch.Field{Name: name, Value: value})
		}
	}
	return fields
}

// storeBody stores the body of a request.
func (h *Handler) storeBody(w http.ResponseWriter, r *http.Request, x *Exchange) error {
	limit := h.MaxRequest
	if limit <= 0 {
		limit = defaultMaxRequest
	}
	if r.ContentLength > limit {
		return fetch.TooLarge.Errorf("body of the request: %d bytes, more than the limit of %d", r.ContentLength, limit)
	}
	if r.ContentLength == 0 && r.Header.Get("Content-Length") == "" {
		return nil
	}
	sum := sha256.New()
	n, err := copyWithin(x.body, io.TeeReader(io.LimitReader(r.Body, limit+1), sum), func() error {
		return http.NewResponseController(w).SetReadDeadline(time.Now().Add(stall))
	})
	switch {
	case err != nil:
		return fetch.Canceled.Errorf("body of the request: %w", err)
	case n > limit:
		return fetch.TooLarge.Errorf("body of the request: more than %d bytes", limit)
	}
	sum.Sum(x.RequestSum[:0])
	x.Request.Outgoing.Size = n
	x.Request.Outgoing.Open = func() (io.ReadCloser, error) {
		body, err := x.body.Reader()
		return io.NopCloser(body), err
	}
	return nil
}

// refuse answers with an error page, which names the rule of a refusal.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	code := http.StatusBadGateway
	switch {
	case isRefusal(err):
		code = http.StatusForbidden
	case errors.Is(err, fetch.Timeout):
		code = http.StatusGatewayTimeout
	case errors.Is(err, fetch.TooLarge):
		code = http.StatusRequestEntityTooLarge
	case errors.Is(err, fetch.Local):
		code = http.StatusInternalServerError
	case errors.Is(err, fetch.BadURL), errors.Is(err, fetch.Usage), errors.Is(err, fetch.Canceled):
		code = http.StatusBadRequest
	}
	h.note("%v", err)
	mitm.WriteError(w, code, err.Error())
}

// isRefusal reports whether the Policy denied a request.
func isRefusal(err error) bool {
	for _, f := range [...]fetch.Fault{fetch.Denied, fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.Unsupported} {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}

func (h *Handler) note(format string, args ...any) {
	if h.Note != nil {
		h.Note(format, args...)
	}
}
