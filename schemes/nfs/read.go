package nfs

import (
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

const (
	windowSize  = 4 << 20 // bytes that are requested before they have arrived
	maxRequests = 32
	readSlack   = 4 << 10 // bytes of a reply to READ in addition to the data
)

// A readRequest is a READ that was sent.
type readRequest struct {
	xid    uint32
	offset int64
	count  int
	record []byte // the reply, or nil
}

// A fileReader reads a part of a file. It sends several requests before the
// first reply arrives.
type fileReader struct {
	s      *session
	file   node
	next   int64 // offset of the next request
	end    int64
	size   int // bytes of a request
	window int // maximum number of requests

	sent  []*readRequest // in the order of their offsets
	free  [][]byte       // buffers for records
	ready []byte         // data that Read returns next
	err   error          // error that Read returns after ready
	used  []byte         // the buffer that contains ready
}

func (s *session) newReader(file node, first, end int64) *fileReader {
	size := s.transferSize(file.handle)
	return &fileReader{s: s, file: file, next: first, end: end, size: size, window: min(max(windowSize/size, 2), maxRequests)}
}

// Read implements io.Reader.
func (r *fileReader) Read(p []byte) (int, error) {
	return sessions.ReadPending(p, &r.ready, &r.err, func() { r.err = r.fill() })
}

// fill waits for the reply with the next data.
func (r *fileReader) fill() error {
	if r.used != nil {
		r.free, r.used = append(r.free, r.used), nil
	}
	if err := r.request(); err != nil {
		return err
	}
	if len(r.sent) == 0 {
		return io.EOF
	}
	for r.sent[0].record == nil {
		if err := r.receive(); err != nil {
			return err
		}
	}
	q := r.sent[0]
	r.sent = r.sent[1:]
	r.used = q.record
	return r.use(q)
}

// request sends requests until the window is full.
func (r *fileReader) request() error {
	for len(r.sent) < r.window && r.next < r.end {
		count := int(min(int64(r.size), r.end-r.next))
		r.sent = append(r.sent, r.queue(r.next, count))
		r.next += int64(count)
	}
	if len(r.s.out) == 0 {
		return nil
	}
	return r.s.flush()
}

func (r *fileReader) queue(offset int64, count int) *readRequest {
	args := oncrpc.AppendOpaque(nil, []byte(r.file.handle))
	args = oncrpc.AppendUint32(oncrpc.AppendUint64(args, uint64(offset)), uint32(count))
	return &readRequest{xid: r.s.queue(nfsProgram, procRead, args), offset: offset, count: count}
}

// receive reads one reply. Servers may reply in any order.
func (r *fileReader) receive() error {
	var buf []byte
	if last := len(r.free) - 1; last >= 0 {
		buf, r.free = r.free[last], r.free[:last]
	}
	record, err := oncrpc.ReadRecord(r.s.In, buf, r.size+readSlack)
	if err != nil {
		return r.s.Failed(err)
	}
	r.s.MarkAnswered()
	xid, err := oncrpc.XIDOf(record)
	if err != nil {
		return r.s.Failed(err)
	}
	for _, q := range r.sent {
		if q.xid == xid && q.record == nil {
			q.record = record
			return nil
		}
	}
	r.s.Break()
	return fetch.Protocol.Errorf("server replied to call %d, which was not sent", xid)
}

// use decodes the reply to q. If the reply contains less data than requested,
// another request is sent for the missing data.
func (r *fileReader) use(q *readRequest) error {
	d, err := oncrpc.ParseReply(q.record)
	if err != nil {
		return wireFault(err)
	}
	if err := r.s.status(d); err != nil {
		return err
	}
	a, known := decodeOptional(d)
	count, end := int(d.Uint32()), d.Bool()
	data := d.Opaque(r.size)
	if err := r.s.check(d); err != nil {
		return err
	}
	switch {
	case known && (a.size != r.file.size || !a.mtime.Equal(r.file.mtime)):
		return fetch.Mismatch.Errorf("the file was changed during the transfer")
	case count != len(data) || count > q.count:
		return fetch.Protocol.Errorf("server sent %d bytes, but %d were requested", len(data), q.count)
	case count < q.count && end:
		return fetch.Truncated.Errorf("the file ends at byte %d instead of %d", q.offset+int64(count), r.end)
	case count == 0:
		return fetch.Protocol.Errorf("server sent no data")
	case count < q.count:
		rest := r.queue(q.offset+int64(count), q.count-count)
		r.sent = append([]*readRequest{rest}, r.sent...)
	}
	r.ready = data
	return nil
}
