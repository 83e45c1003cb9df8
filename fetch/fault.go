package fetch

// A Fault is the class of an error. It determines how the caller can react.
// Every error that this module returns has a Fault in its chain. A Fault
// implements error, so that errors.Is can test for it:
//
//	if errors.Is(err, fetch.NotFound) { ... }
//
// [Retryable] reports whether another attempt may succeed. A [Refusal] in the
// chain describes the request or connection that the Policy denied. The zero
// Fault is not a class. No error has it in its chain.
type Fault uint8

const (
	Internal    Fault = iota + 1 // a bug in this module; report it
	Usage                        // the caller used a function or an option incorrectly
	BadURL                       // the URL is malformed, or invalid for its scheme
	NeedQuery                    // the URL names an index, which needs search words
	Local                        // an error of a local file, directory or device
	Exists                       // the local file exists already
	InUse                        // another process writes the same local file
	DiskFull                     // no space left on the local device
	DNS                          // the host name does not resolve
	Connect                      // the connection failed or was reset; transient
	Timeout                      // the server did not respond in time, or the deadline of the context has passed; transient
	TLS                          // the peer could not be authenticated
	Auth                         // credentials are missing or wrong
	Protocol                     // the server violated its protocol
	NotFound                     // the server has no such object
	TryLater                     // the server cannot respond now; transient
	Denied                       // the server rejected the request permanently
	BadPort                      // the policy blocks the port
	BadAddress                   // the policy blocks the address or the host
	BadReferral                  // the policy blocks a redirect or a link
	TooLarge                     // a limit on size or number was exceeded
	Bomb                         // a body decompresses to far more bytes than were sent
	Loop                         // too many redirects or referrals, or a loop of them
	Truncated                    // the body ended early; transient
	Mismatch                     // the body differs from its checksum or its announced version
	Unsupported                  // the scheme is unknown, or a feature is missing
	Canceled                     // the caller canceled the request
)

// faults maps each Fault to its name, which appears in log records. The field
// retry is true if a request that failed with the Fault may succeed when it is
// sent again.
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

// String returns the name of the Fault for log records and messages. It is usually
// the identifier in lower case, such as "not-found". The other names are:
//
//	BadURL      invalid-uri
//	Local       io-local
//	InUse       busy
//	TryLater    server-temp
//	Denied      server-perm
//	BadPort     policy-port
//	BadAddress  policy-address
//	BadReferral policy-redirect
//	Mismatch    integrity
func (f Fault) String() string {
	if int(f) >= len(faults) {
		f = 0
	}
	return faults[f].name
}

// Error returns the name of the Fault.
func (f Fault) Error() string { return f.String() }

// retryable reports whether a request that failed with the Fault f may succeed
// when it is sent again.
func (f Fault) retryable() bool { return int(f) < len(faults) && faults[f].retry }
