package gateway

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// An objectCache contains the captures that were read recently, with their
// content codings removed and their digests verified. Browsers request the
// images and style sheets of a site for each of its pages. An objectCache is safe
// for concurrent use.
type objectCache struct{ *lru[objectKey, *object] }

// An objectKey identifies a record, and the URL with which it was requested.
type objectKey struct {
	archive   *collection
	file      string
	offset    int64
	timestamp string // distinguishes the records of a gzip member
	digest    string
	url       string
}

type object struct {
	resp fetch.Response // without Body
	body []byte
}

const (
	maxObject  = 64 << 10 // bytes of the body of an object in the cache
	maxObjects = 16 << 20 // bytes of all objects in the cache
)

func newObjectCache() objectCache {
	return objectCache{newLRU(maxObjects, func(key objectKey, o *object) int {
		return len(o.body) + 3*len(o.resp.Head) + len(key.url) + 1<<10
	})}
}

// get returns a copy of a stored response.
func (c objectCache) get(key objectKey) (resp *fetch.Response, ok bool) {
	o, ok := c.lru.get(key)
	if !ok {
		return nil, false
	}
	copied := o.resp
	copied.Body = io.NopCloser(bytes.NewReader(o.body))
	return &copied, true
}

// record returns resp with a body that stores the response in the cache after
// it was read to the end. Bodies of more than maxObject bytes are not stored.
func (c objectCache) record(key objectKey, resp *fetch.Response) *fetch.Response {
	if resp.Size > maxObject || len(resp.Head) > maxObject {
		return resp
	}
	stored := *resp
	stored.Body = nil
	resp.Body = &recorder{ReadCloser: resp.Body, cache: c, key: key, object: &object{resp: stored}}
	return resp
}

// A recorder is a body that is copied to the cache while it is read.
type recorder struct {
	io.ReadCloser
	cache  objectCache
	key    objectKey
	object *object // nil after the end, or if the body is too large
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.object == nil {
		return n, err
	}
	r.object.body = append(r.object.body, p[:n]...)
	if err == io.EOF && len(r.object.body) <= maxObject {
		r.cache.add(r.key, r.object)
	}
	if err != nil || len(r.object.body) > maxObject {
		r.object = nil
	}
	return n, err
}
