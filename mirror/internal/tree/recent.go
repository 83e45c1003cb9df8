package tree

// A recent maps names to values and drops the least recently used names. It
// contains at most 2*max names.
type recent[V any] struct {
	max        int
	young, old map[string]V
}

func (r *recent[V]) add(name string, v V) {
	if len(r.young) >= r.max || r.young == nil {
		r.young, r.old = make(map[string]V), r.young
	}
	r.young[name] = v
}

func (r *recent[V]) get(name string) (v V, ok bool) {
	if v, ok = r.young[name]; ok {
		return v, true
	}
	if v, ok = r.old[name]; ok {
		r.add(name, v)
	}
	return v, ok
}
