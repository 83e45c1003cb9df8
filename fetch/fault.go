package fetch

// A Fault classes an error by what its reader can do about it. It is itself
// an error and stands in the chain of every error that this module returns:
//
//	if errors.Is(err, fetch.NotFound) { ... }
//
// The zero Fault is no class and never stands in a chain.
type Fault uint8

const (
	Internal    Fault = iota + 1 // a defect of ours: report it
	Usage                        // the call is wrong: fix it
	BadURL                       // the URL is malformed, or wrong for its scheme
	NeedQuery                    // an index was asked for without words: add them
	Local                        // a local file, directory or device
	Exists                       // the local file is there already
	InUse                        // another process writes the same local file
	DiskFull                     // no space left on the local device
	DNS                          // the name does not resolve
	Connect                      // no connection, or it was reset: try again
	Timeout                      // nothing came in time: try again
	TLS                          // the peer could not be authenticated
	Auth                         // credentials are missing or wrong
	Protocol                     // the server broke its protocol
	NotFound                     // the server has no such object
	TryLater                     // the server cannot answer now: try again
	Denied                       // the server will not answer this
	BadPort                      // the policy refuses the port
	BadAddress                   // the policy refuses the address or host
	BadReferral                  // the policy refuses where a server sent us
	TooLarge                     // a limit on size or number
	Bomb                         // a body that decodes to far more than was sent
	Loop                         // redirects or referrals without end
	Truncated                    // the body ended early: try again
	Mismatch                     // the body is not the one that was promised
	Unsupported                  // an unknown scheme or a missing feature
	Canceled                     // the caller gave up
)

// faults says of each Fault its name in records and whether the same request
// may succeed when it is made again.
var faults = [...]struct {
	name  string
	retry bool
}{
	0:           {"unknown", false},
	Internal:    {"internal", false},
	Usage:       {"usage", false},
	BadURL:      {"invalid-uri", false},
	NeedQuery:   {"need-query", false},
	Local:       {"io-local", false},
	Exists:      {"exists", false},
	InUse:       {"busy", false},
	DiskFull:    {"disk-full", false},
	DNS:         {"dns", false},
	Connect:     {"connect", true},
	Timeout:     {"timeout", true},
	TLS:         {"tls", false},
	Auth:        {"auth", false},
	Protocol:    {"protocol", false},
	NotFound:    {"not-found", false},
	TryLater:    {"server-temp", true},
	Denied:      {"server-perm", false},
	BadPort:     {"policy-port", false},
	BadAddress:  {"policy-address", false},
	BadReferral: {"policy-redirect", false},
	TooLarge:    {"too-large", false},
	Bomb:        {"bomb", false},
	Loop:        {"loop", false},
	Truncated:   {"truncated", true},
	Mismatch:    {"integrity", false},
	Unsupported: {"unsupported", false},
	Canceled:    {"canceled", false},
}

// String returns the name of f in records and messages.
func (f Fault) String() string {
	if int(f) >= len(faults) {
		f = 0
	}
	return faults[f].name
}

// Error makes a Fault an error.
func (f Fault) Error() string { return f.String() }

// Retryable reports whether the same request may succeed when made again.
func (f Fault) retryable() bool { return int(f) < len(faults) && faults[f].retry }
