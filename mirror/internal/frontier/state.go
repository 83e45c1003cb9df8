package frontier

import "slices"

// A State is the crawl state of a URL, such as Done. The last run that visited
// the URL has set it.
type State uint8

const (
	Pending  State = iota // to be visited, or to be visited again at Result.Retry
	Done                  // retrieved, or unchanged since an earlier run
	Kept                  // retrieved and immutable; later runs do not visit it
	Gone                  // retrieved in an earlier run, but deleted on the server
	Dead                  // failed permanently
	Excluded              // excluded by robots.txt or by a rule of the crawl
)

var states = [...]string{"pending", "done", "kept", "gone", "dead", "excluded"}

// String returns the name by which archives store the state, such as "done".
func (s State) String() string { return states[min(int(s), len(states)-1)] }

// ParseState returns the State with the given name. The result ok is false if
// no State has this name.
func ParseState(name string) (State, bool) {
	i := slices.Index(states[:], name)
	return State(max(i, 0)), i >= 0
}

// MarshalText returns the name of the state. The error is always nil.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
