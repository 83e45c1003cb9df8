package frontier

// seen remembers keys of which Add knows without a look into the tables that it
// has nothing to do: most links lead to what a site links to everywhere.
type seen struct {
	run  int64
	keys map[Key]struct{}
}

// remembered bounds the keys: some megabytes.
const remembered = 1 << 16

func (s *seen) has(run int64, k Key) bool {
	_, ok := s.keys[k]
	return ok && s.run == run
}

// remember adds what a transaction that is on disk has met.
func (s *seen) remember(run int64, met []Key) {
	if s.keys == nil || s.run != run || len(s.keys)+len(met) > remembered {
		s.run, s.keys = run, make(map[Key]struct{})
	}
	for _, k := range met[:min(len(met), remembered)] {
		s.keys[k] = struct{}{}
	}
}
