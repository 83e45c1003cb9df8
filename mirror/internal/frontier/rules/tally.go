package rules

import "github.com/anyurl/fetch/mirror/internal/frontier"

// NumStates is the number of values of frontier.State.
const NumStates = int(frontier.Excluded) + 1

// A Tally contains totals of a database, or changes of totals.
type Tally struct {
	States                [NumStates]int64 // all pending URLs, and other URLs that the newest run has visited
	Before                int64            // number of URLs with the state Done that only earlier runs contain
	URLs, Captures, Bytes int64
}

// TallyColumns lists the columns of a Tally in the order of Fields.
const TallyColumns = "pending, done, kept, gone, dead, excluded, before, urls, captures, bytes"

// Fields returns pointers to all totals in the order of TallyColumns.
func (a *Tally) Fields() (all []any) {
	for i := range a.States {
		all = append(all, &a.States[i])
	}
	return append(all, &a.Before, &a.URLs, &a.Captures, &a.Bytes)
}

// Move counts a URL whose state changes in the given run.
func (a *Tally) Move(u *URL, run int64, to frontier.State) { a.moveAll(1, u.State, u.Run == run, to) }

// moveAll counts n URLs whose states change. If current is false, only earlier
// runs have visited the URLs.
func (a *Tally) moveAll(n int64, from frontier.State, current bool, to frontier.State) {
	switch {
	case from == frontier.Pending || current:
		a.States[from] -= n
	case from == frontier.Done:
		a.Before -= n
	}
	a.States[to] += n
}

// StartRun starts a run. Only pending URLs belong to it.
func (a *Tally) StartRun() {
	a.Before += a.States[frontier.Done]
	a.States = [NumStates]int64{frontier.Pending: a.States[frontier.Pending]}
}

// Report sets the totals of st.
func (a *Tally) Report(st *frontier.Stats) {
	st.URLs, st.Captures, st.Bytes, st.States = a.URLs, a.Captures, a.Bytes, map[frontier.State]int64{}
	for state, n := range a.States {
		if n > 0 {
			st.States[frontier.State(state)] = n
		}
	}
}
