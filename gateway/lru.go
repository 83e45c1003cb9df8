package gateway

import (
	"container/list"
	"sync"
)

// An lru is a cache of values with a limit for their size. It removes the values
// that were not used for the longest time. It is safe for concurrent use.
type lru[K comparable, V any] struct {
	limit int            // bytes of all values
	bytes func(K, V) int // estimates the memory of a value with its key

	mu    sync.Mutex
	used  *list.List // of type *lruEntry[K, V], beginning with the most recently used
	byKey map[K]*list.Element
	size  int // bytes of all values
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

// add stores a value, unless the key has a value.
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
