package faultnet

import "sync"

// An Entity is an object that changes while clients fetch it. It is safe for
// concurrent use.
type Entity struct {
	mu       sync.Mutex
	versions []string
}

// NewEntity returns an Entity of the first version, to become the others.
func NewEntity(first string, later ...string) *Entity {
	return &Entity{versions: append([]string{first}, later...)}
}

// Now returns the present version.
func (e *Entity) Now() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.versions[0]
}

// Send sends the present version from byte first on.
func (e *Entity) Send(first int) Step {
	return Do("send entity", func(c *Conn) error { return c.write([]byte(e.Now()[first:])) })
}

// Swap makes the next version, if there is one, the present one.
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
