package gateway

import (
	"bytes"
	"container/list"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// An objectCache contains the captures that were read recently, with their
// content codings removed and their digests verified. Browsers request the
// images and style sheets of a site for each of its pages. An objectCache is safe
// for concurrent use.
type objectCache struct {
	mu    sync.Mutex
	used  *list.List // of type *object, beginning with the most recently used
	byKey map[objectKey]*list.Element
	size  int // bytes of all objects
}

// An objectKey identifies a record, and the URL with which it was requested.
type objectKey struct {
	archive *collection
	file    string
	offset  int64
	url     string
}

type object struct {
	objectKey
	resp fetch.Response // without Body
	body []byte
}

const (
	maxObject  = 64 << 10 // bytes of the body of an object in the cache
	maxObjects = 16 << 20 // bytes of all objects in the cache
)

func newObjectCache() *objectCache {
	return &objectCache{used: list.New(), byKey: map[objectKey]*list.Element{}}
}

// bytes returns an estimate of the memory that the object needs.
func (o *object) bytes() int { return len(o.body) + 3*len(o.resp.Head) + len(o.url) + 1<<10 }

// get returns a copy of a stored response.
func (c *objectCache) get(key objectKey) (resp *fetch.Response, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.used.MoveToFront(e)
	o := e.Value.(*object)
	copied := o.resp
	copied.Body = io.NopCloser(bytes.NewReader(o.body))
	return &copied, true
}

// add stores an object. It removes the objects that were not used for the longest
// time.
func (c *objectCache) add(o *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[o.objectKey]; ok {
		return
	}
	c.byKey[o.objectKey] = c.used.PushFront(o)
	for c.size += o.bytes(); c.size > maxObjects; {
		oldest := c.used.Remove(c.used.Back()).(*object)
		delete(c.byKey, oldest.objectKey)
		c.size -= oldest.bytes()
	}
}

// record returns resp with a body that adds the response to the cache when its
// end is reached. Larger bodies are not added.
func (c *objectCache) record(key objectKey, resp *fetch.Response) *fetch.Response {
	if resp.Size > maxObject || len(resp.Head) > maxObject {
		return resp
	}
	stored := *resp
	stored.Body = nil
	resp.Body = &recorder{ReadCloser: resp.Body, cache: c, object: &object{objectKey: key, resp: stored}}
	return resp
}

// A recorder is a body that is copied to the cache while it is read.
type recorder struct {
	io.ReadCloser
	cache  *objectCache
	object *object // nil after the end, or if the body is too large
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.object == nil {
		return n, err
	}
	r.object.body = append(r.object.body, p[:n]...)
	if err == io.EOF && len(r.object.body) <= maxObject {
		r.cache.add(r.object)
	}
	if err != nil || len(r.object.body) > maxObject {
		r.object = nil
	}
	return n, err
}
