package faultnet

import "sync"

// An Entity is an object that changes while clients fetch it. It is safe for
// concurrent use.
type Entity struct {
	mu       sync.Mutex
	versions []string
}

// NewEntity returns an Entity with the given versions, which Swap selects in
// order.
func NewEntity(first string, later ...string) *Entity {
	return &Entity{versions: append([]string{first}, later...)}
}

// Now returns the current version.
func (e *Entity) Now() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.versions[0]
}

// Send returns a Step that sends the current version, starting at the byte
// offset first.
func (e *Entity) Send(first int) Step {
	return Do("send entity", func(c *Conn) error { return c.write([]byte(e.Now()[first:])) })
}

// Swap returns a Step that replaces the current version by the next one.
func (e *Entity) Swap() Step {
	return Do("swap entity", func(*Conn) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.versions) > 1 {
			e.versions = e.versions[1:]
		}
		return nil
	})
}
