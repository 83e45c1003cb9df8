package frontier

// seenKeys caches keys of URLs that the active run contains, so that Add skips
// them without a query. Most links of a site lead to the same few URLs.
type seenKeys struct {
	run  int64
	keys map[Key]struct{}
}

// maxSeen limits the number of keys, and so the memory to a few megabytes.
const maxSeen = 1 << 16

func (s *seenKeys) contains(run int64, k Key) bool {
	_, ok := s.keys[k]
	return ok && s.run == run
}

// remember adds the keys of a committed transaction.
func (s *seenKeys) remember(run int64, met []Key) {
	if s.keys == nil || s.run != run || len(s.keys)+len(met) > maxSeen {
		s.run, s.keys = run, make(map[Key]struct{})
	}
	for _, k := range met[:min(len(met), maxSeen)] {
		s.keys[k] = struct{}{}
	}
}
