package gateway

import (
	"container/list"
	"sync"
)

// An lru is a cache of limited size, which removes the least recently used
// values. It is safe for concurrent use.
type lru[K comparable, V any] struct {
	limit int            // maximum size of all values in bytes
	bytes func(K, V) int // estimates the memory of a key and its value

	mu    sync.Mutex
	used  *list.List // of type *lruEntry[K, V], beginning with the most recently used
	byKey map[K]*list.Element
	size  int // size of all values in bytes
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](limit int, bytes func(K, V) int) *lru[K, V] {
	return &lru[K, V]{limit: limit, bytes: bytes, used: list.New(), byKey: map[K]*list.Element{}}
}

// get returns the value of a key.
func (c *lru[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*lruEntry[K, V]).value, true
}

// add stores the value of a key, unless the cache contains the key already.
func (c *lru[K, V]) add(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok {
		return
	}
	c.byKey[key] = c.used.PushFront(&lruEntry[K, V]{key, value})
	for c.size += c.bytes(key, value); c.size > c.limit; {
		oldest := c.used.Remove(c.used.Back()).(*lruEntry[K, V])
		delete(c.byKey, oldest.key)
		c.size -= c.bytes(oldest.key, oldest.value)
	}
}
