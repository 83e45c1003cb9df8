package rules

import "github.com/anyurl/fetch/mirror/internal/frontier"

// NumStates is the number of values of frontier.State.
const NumStates = int(frontier.Excluded) + 1
