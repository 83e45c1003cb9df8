package scheme

// A TLSMode controls whether a driver upgrades a plaintext connection to TLS,
// by AUTH TLS or STARTTLS. If the TLS handshake fails after the server has
// accepted the upgrade, the request fails. It never continues in plaintext.
type TLSMode uint8

const (
	TLSDefault  TLSMode = iota // the default of the scheme, see its Options
	TLSWanted                  // encrypt if the server supports it
	TLSRequired                // fail if the server does not support it
	TLSNever                   // do not encrypt
)
