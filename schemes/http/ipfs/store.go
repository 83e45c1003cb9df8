package ipfs

import (
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
)

// Media types of the responses of a trustless gateway.
const (
	carMedia = "application/vnd.ipld.car"
	rawMedia = "application/vnd.ipld.raw"
)

// maxInline is the maximum number of blocks in a CAR file whose identifiers contain
// them. They are not needed.
const maxInline = 100_000

// A store returns the verified blocks of an object. The gateway sends them as a
// CAR file, in the order in which they are read. A block that is not the next one
// in the file is requested on its own.
type store struct {
	driver *driver
	ctx    context.Context // of the request; Close ends it
	cancel context.CancelCauseFunc
	req    *fetch.Request
	target string // path and query of the CAR file

	first  *fetch.Response // first response of the gateway, or nil
	opened bool            // the CAR file was requested
	mu     sync.Mutex      // protects body
	body   io.Closer       // of the CAR file, or nil
	car    *carReader      // nil if there is no CAR file, and after its end
	ahead  *aheadBlock     // block of the CAR file that was not used yet
	inline int             // identity blocks in the CAR file
}

type aheadBlock struct {
	id    cid
	block []byte
}

func newStore(ctx context.Context, d *driver, req *fetch.Request, target string) *store {
	ctx, cancel := context.WithCancelCause(ctx)
	return &store{driver: d, ctx: ctx, cancel: cancel, req: req, target: target}
}

// Close ends all requests. It may be called while another goroutine reads.
func (s *store) Close() error {
	s.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.body != nil {
		return s.body.Close()
	}
	return nil
}

// get returns the block with an identifier.
func (s *store) get(id cid) ([]byte, error) {
	if err := s.driver.check(id); err != nil {
		return nil, err
	}
	if id.hash == identityHash {
		return []byte(id.digest), nil
	}
	if !s.opened {
		s.opened = true
		if err := s.openCAR(); err != nil {
			return nil, err
		}
	}
	if err := s.readAhead(); err != nil {
		return nil, err
	}
	if next := s.ahead; next != nil && next.id == id {
		s.ahead = nil
		return next.block, nil
	}
	block, resp, err := s.fetch(id, s.req)
	if s.first == nil {
		s.first = resp
	}
	return block, err
}

// readAhead reads the next block of the CAR file that is not an identity block.
func (s *store) readAhead() error {
	for s.ahead == nil && s.car != nil {
		id, block, err := s.car.next()
		switch {
		case err == io.EOF:
			s.car = nil
			return nil
		case err != nil:
			return err
		case id.hash != identityHash:
			s.ahead = &aheadBlock{id, block}
		default:
			if s.inline++; s.inline > maxInline {
				return fetch.Protocol.Errorf("the CAR file has more than %d identity blocks", maxInline)
			}
		}
	}
	return nil
}

// openCAR requests the CAR file. Some gateways have only single blocks.
func (s *store) openCAR() error {
	resp, err := s.driver.send(s.ctx, s.req, s.target, carMedia+"; version=1; order=dfs; dups=y")
	if err != nil {
		return err
	}
	s.first = resp
	onlyBlocks := []int{http.StatusBadRequest, http.StatusNotAcceptable, http.StatusUnsupportedMediaType, http.StatusNotImplemented}
	if resp.Fault != nil {
		resp.Body.Close()
		if slices.Contains(onlyBlocks, resp.Code) {
			s.req.Trace.Notef("the gateway sends no CAR files: requesting each block")
			return nil
		}
		return resp.Fault
	}
	if t, _, _ := mime.ParseMediaType(resp.Media); t != carMedia {
		resp.Body.Close()
		return wrongMedia(resp, "a CAR file")
	}
	s.mu.Lock()
	s.body = resp.Body
	s.mu.Unlock()
	s.car, err = newCAR(s.driver.env.Limit(resp.Body), s.driver.verifier)
	return err
}

// fetch requests a single block. It may be called by several goroutines at the
// same time.
func (s *store) fetch(id cid, req *fetch.Request) (block []byte, resp *fetch.Response, err error) {
	resp, err = s.driver.send(s.ctx, req, "/ipfs/"+id.String()+"?format=raw", rawMedia)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	if resp.Fault != nil {
		return nil, resp, resp.Fault
	}
	if resp.Size > maxBlock {
		return nil, resp, tooLarge()
	}
	block, err = io.ReadAll(io.LimitReader(s.driver.env.Limit(resp.Body), maxBlock+1))
	switch {
	case err != nil:
		return nil, resp, err
	case len(block) > maxBlock:
		return nil, resp, tooLarge()
	case !s.driver.matches(id, block) && strings.HasPrefix(resp.Media, "text/"):
		return nil, resp, wrongMedia(resp, "a block")
	}
	return block, resp, s.driver.verify(id, block)
}

// wrongMedia returns the error for a response of another type than want.
func wrongMedia(resp *fetch.Response, want string) error {
	return fetch.Protocol.Errorf("the gateway sent %.100q instead of %s: is it a trustless gateway of IPFS?", resp.Media, want)
}

// send sends a GET request for a path and a query to the gateway. It follows no
// redirects, because only the configured gateway may receive the request.
func (d *driver) send(ctx context.Context, req *fetch.Request, target, accept string) (*fetch.Response, error) {
	u, err := uri.Parse(d.gateway.origin + d.gateway.path + target)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	r := &fetch.Request{URL: u, From: req.From, Trace: req.Trace, NoFollow: true, ErrorBody: true}
	r.Header = append(req.Header.Without(isKept), fetch.Field{Name: "Accept", Value: accept})
	resp, err := d.web.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	if !resp.Location.IsZero() || resp.Code/100 == 3 {
		resp.Body.Close()
		return nil, fetch.Denied.Errorf("the gateway redirects to another server, which is not followed: " +
			"configure a gateway that serves /ipfs/ itself, such as http://127.0.0.1:8080 instead of http://localhost:8080")
	}
	if resp.Fault == nil && resp.Code != http.StatusOK {
		resp.Body.Close()
		return nil, fetch.Protocol.Errorf("the gateway sent the status %d", resp.Code)
	}
	return resp, nil
}

// isKept reports whether the gateway does not get a header field of the user: the
// response must be the complete block or CAR file, and secrets are intended for
// web servers.
func isKept(name string) bool {
	switch strings.ToLower(name) {
	case "accept", "accept-encoding", "range", "if-range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since":
		return true
	}
	return http1.IsSecretField(name)
}
