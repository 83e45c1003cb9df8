package tree

// maxRecent limits the number of names in each of the two maps of the type
// recent.
const maxRecent = 8192

// A recent is a set of names that drops the least recently used names. The zero
// value is an empty set.
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
