package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
)

const (
	partSize = 16 << 20 // minimum size of a part; objects up to this size are sent in one request
	maxParts = 10_000   // limit of S3

	abortTime = 10 * time.Second       // time limit for the request that removes an incomplete upload
	abortEnd  = 500 * time.Millisecond // the same after the cancellation of the upload
	maxAborts = 100                    // maximum number of uploads that abortAll considers
	ghostTime = 5 * time.Second
)

func (s *bucket) Put(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) error {
	if err := store.CheckName(name); err != nil {
		return err
	}
	_, err := s.Stat(ctx, name)
	if err == nil {
		return s.failed("create", name, s.compare(ctx, name, size, sum))
	}
	if errors.Is(err, fetch.NotFound) || errors.Is(err, fetch.Denied) { // the access key may have no permission to read
		err = s.create(ctx, name, r, size, sum)
	}
	if isStatus(err, http.StatusPreconditionFailed) { // another worker has just created the object
		err = s.compare(ctx, name, size, sum)
		if errors.Is(err, fs.ErrNotExist) && s.ghosts.remain(name) {
			always := *s
			always.unless = ""
			err = always.create(ctx, name, r, size, sum)
		}
	}
	return s.failed("create", name, err)
}

// ghosts are names that the server treats as existing (status 412), although it
// has no such object. Another worker may be about to create the object. If a
// ghost remains, a crash of the server has left metadata without an object.
type ghosts struct {
	wait time.Duration // time after which a ghost is considered permanent

	mu    sync.Mutex
	since map[string]time.Time // time of the first response 412 for each name
}

// remain reports whether the name has been a ghost for the time g.wait. Put
// calls it after each response 412 for a missing object.
func (g *ghosts) remain(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	since, ok := g.since[name]
	if !ok {
		since = time.Now()
		g.since[name] = since
	}
	if time.Since(since) < g.wait {
		return false
	}
	delete(g.since, name)
	return true
}

// create uploads an object in one or several requests. If s.unless is set and
// the object exists, the server responds with the status 412.
func (s *bucket) create(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) error {
	confirmed, err := false, error(nil)
	if size <= partSize {
		confirmed, err = s.putSmall(ctx, name, r, size, sum)
	} else {
		confirmed, err = s.putParts(ctx, name, r, size, sum)
	}
	if err == nil && !confirmed {
		err = s.compare(ctx, name, size, sum)
	}
	return err
}

// compare verifies an object in the store. The error wraps ErrConflict if the
// object differs from the given size and digest.
func (s *bucket) compare(ctx context.Context, name string, size int64, sum [sha256.Size]byte) error {
	f, err := s.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Size() != size {
		return store.ErrConflict
	}
	got, err := store.Digest(ctx, store.Reader(f))
	if err == nil && got != sum {
		err = store.ErrConflict
	}
	return err
}

// putSmall creates an object with one request. It reports whether the server
// returned the digest of the bytes that it has stored.
func (s *bucket) putSmall(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) (confirmed bool, err error) {
	got, err := store.Digest(ctx, io.NewSectionReader(r, 0, size+1))
	if err != nil {
		return false, err
	}
	if got != sum {
		return false, store.Differs(name)
	}
	check := fetch.Field{Name: checkField, Value: base64.StdEncoding.EncodeToString(sum[:])}
	c := call{method: http.MethodPut, key: s.key(name), header: append(s.unlessExists(), append(description(name, sum), check)...)}
	c.body, c.digest = content(r, 0, size, sum)
	fields, err := s.api.empty(ctx, c)
	if err != nil {
		return false, err
	}
	return fields.Get(checkField) == check.Value, nil
}

// checkField is the header field for the digest of a body, or of the digests of
// all parts.
const checkField = "X-Amz-Checksum-Sha256"

// description returns the fields of the request that creates an object: its
// media type, and its digest as metadata.
func description(name string, sum [sha256.Size]byte) fetch.Header {
	return fetch.Header{{Name: "Content-Type", Value: mediaType(name)}, {Name: digestField, Value: hex.EncodeToString(sum[:])}}
}

// unlessExists returns the condition of a request that creates an object.
func (s *bucket) unlessExists() fetch.Header {
	if s.unless == "" {
		return nil
	}
	return fetch.Header{{Name: "If-None-Match", Value: s.unless}}
}

// mediaType returns the media type for the object with the given name.
func mediaType(name string) string {
	switch {
	case strings.HasSuffix(name, ".warc.gz"), strings.HasSuffix(name, ".warc.zst"), strings.HasSuffix(name, ".warc"):
		return "application/warc"
	}
	return "application/octet-stream"
}

// putParts creates an object by a multipart upload. It reports whether the
// server returned the digest of the digests of all parts. It first removes the
// parts that earlier uploads of the object have left after a crash of this
// program or of the server.
func (s *bucket) putParts(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) (confirmed bool, err error) {
	s.abortAll(ctx, name)
	id, err := s.start(ctx, name, sum)
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.abort(ctx, name, id))
		}
	}()
	parts, sums, err := s.sendParts(ctx, name, id, r, size, sum)
	if err != nil {
		return false, err
	}
	all := sha256.Sum256(sums)
	text, err := xml.Marshal(completion{Part: parts})
	if err != nil {
		return false, fetch.Internal.With(err)
	}
	c := call{method: http.MethodPost, key: s.key(name), query: url.Values{"uploadId": {id}}, header: s.unlessExists()}
	c.body, c.digest = content(bytes.NewReader(text), 0, int64(len(text)), sha256.Sum256(text))
	var out joined
	if err := s.api.document(ctx, c, "CompleteMultipartUploadResult", &out); err != nil {
		return false, err
	}
	want := fmt.Sprintf("%s-%d", base64.StdEncoding.EncodeToString(all[:]), len(parts))
	return out.ChecksumSHA256 == want, nil
}

// start starts an upload in parts and returns its identifier.
func (s *bucket) start(ctx context.Context, name string, sum [sha256.Size]byte) (id string, err error) {
	var out upload
	err = s.api.document(ctx, call{method: http.MethodPost, key: s.key(name), query: url.Values{"uploads": {""}},
		header: append(description(name, sum), fetch.Field{Name: "X-Amz-Checksum-Algorithm", Value: "SHA256"}),
	}, "InitiateMultipartUploadResult", &out)
	if err == nil && out.UploadId == "" {
		err = fetch.Protocol.Errorf("the server does not identify the upload")
	}
	return out.UploadId, err
}

// sendParts uploads the parts of an object. It returns the parts and their
// concatenated digests. It reads each part twice, for the digest and for the
// request, and so keeps no part in memory.
func (s *bucket) sendParts(
	ctx context.Context, name, id string, r io.ReaderAt, size int64, sum [sha256.Size]byte,
) (parts []part, sums []byte, err error) {
	step := max(partSize, (size+maxParts-1)/maxParts)
	total := sha256.New()
	for off := int64(0); off < size; off += step {
		n := min(step, size-off)
		digest, err := store.Digest(ctx, io.TeeReader(io.NewSectionReader(r, off, n), total))
		if err != nil {
			return nil, nil, err
		}
		p := part{PartNumber: len(parts) + 1, ChecksumSHA256: base64.StdEncoding.EncodeToString(digest[:])}
		c := call{method: http.MethodPut, key: s.key(name), query: url.Values{"partNumber": {strconv.Itoa(p.PartNumber)}, "uploadId": {id}},
			header: fetch.Header{{Name: checkField, Value: p.ChecksumSHA256}}}
		c.body, c.digest = content(r, off, n, digest)
		fields, err := s.api.empty(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		p.ETag = fields.Get("ETag")
		parts = append(parts, p)
		sums = append(sums, digest[:]...)
	}
	if [sha256.Size]byte(total.Sum(nil)) != sum {
		return nil, nil, store.Differs(name)
	}
	return parts, sums, nil
}

// abortAll removes the parts of all incomplete uploads of an object. It ignores
// errors, because the access key may have no permission to list uploads, and
// because a new upload succeeds anyway.
func (s *bucket) abortAll(ctx context.Context, name string) {
	key := s.key(name)
	all, err := s.uploads(ctx, key)
	if err != nil {
		return
	}
	for _, u := range all.Upload[:min(len(all.Upload), maxAborts)] {
		if u.Key == key {
			_ = s.abort(ctx, name, u.UploadId)
		}
	}
}

// uploads lists incomplete uploads of the objects whose keys start with prefix.
func (s *bucket) uploads(ctx context.Context, prefix string) (all uploadList, err error) {
	query := url.Values{"uploads": {""}, "prefix": {prefix}}
	err = s.api.document(ctx, call{method: http.MethodGet, query: query}, "ListMultipartUploadsResult", &all)
	return all, err
}

// abort removes the parts of an incomplete upload. It returns an error only if
// the server forbids the request (status 403). If the server is unreachable,
// the next upload of the object removes the parts.
func (s *bucket) abort(ctx context.Context, name, id string) error {
	limit := abortTime
	if ctx.Err() != nil {
		limit = abortEnd
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	_, err := s.api.empty(ctx, call{method: http.MethodDelete, key: s.key(name), query: url.Values{"uploadId": {id}}, once: true})
	if isStatus(err, http.StatusForbidden) {
		return classify(err)
	}
	return nil
}

// Check tests the store. It also verifies that neither a simple request nor a
// multipart upload replaces an existing object.
func (s *bucket) Check(ctx context.Context) error {
	text := []byte("fetch\n")
	name := store.Reserved + "check-" + rand.Text()
	sum := sha256.Sum256(text)
	_, err := s.putSmall(ctx, name, bytes.NewReader(text), int64(len(text)), sum)
	if isStatus(err, http.StatusPreconditionFailed) {
		// The name is random. If the object exists, the response to an earlier
		// attempt was lost.
		if _, _, missing := s.fields(ctx, name); missing == nil {
			err = nil
		}
	}
	if err != nil {
		return s.failed("create", "a test object", err)
	}
	_, once := s.putSmall(ctx, name, bytes.NewReader(text), int64(len(text)), sum)
	_, parts := s.putParts(ctx, name, bytes.NewReader(text), int64(len(text)), sum)
	for _, err = range []error{once, parts} {
		if err == nil {
			err = fetch.Unsupported.Errorf("the server replaces objects: it ignores If-None-Match")
			break
		}
		if !isStatus(err, http.StatusPreconditionFailed) {
			break
		}
		err = nil
	}
	_, removed := s.api.empty(ctx, call{method: http.MethodDelete, key: s.key(name)})
	if err == nil && !isStatus(removed, http.StatusForbidden) { // the permission to delete objects is not required
		err = removed
	}
	return s.failed("create", "a test object", err)
}
