package tree

// maxRecent is how many names each half of a recent holds.
const maxRecent = 8192

// recent is a set that forgets what was not asked for in a while. The zero
// value is empty.
type recent struct{ young, old map[string]struct{} }

func (r *recent) add(name string) {
	if len(r.young) >= maxRecent || r.young == nil {
		r.young, r.old = make(map[string]struct{}), r.young
	}
	r.young[name] = struct{}{}
}

func (r *recent) has(name string) bool {
	if _, ok := r.young[name]; ok {
		return true
	}
	_, ok := r.old[name]
	if ok {
		r.add(name)
	}
	return ok
}
