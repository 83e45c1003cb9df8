package frontier

// seenKeys caches keys of URLs in the active run, so that Add can skip these
// URLs without a query. Most links in a site lead to a small number of URLs.
type seenKeys struct {
	run  int64
	keys map[Key]struct{}
}

// maxSeen is the maximum number of cached keys, which occupy a few megabytes.
const maxSeen = 1 << 16

func (s *seenKeys) contains(run int64, k Key) bool {
	_, ok := s.keys[k]
	return ok && s.run == run
}

// remember adds the keys of a committed transaction to the cache.
func (s *seenKeys) remember(run int64, met []Key) {
	if s.keys == nil || s.run != run || len(s.keys)+len(met) > maxSeen {
		s.run, s.keys = run, make(map[Key]struct{})
	}
	for _, k := range met[:min(len(met), maxSeen)] {
		s.keys[k] = struct{}{}
	}
}
