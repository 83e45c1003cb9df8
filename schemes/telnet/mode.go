package telnet

// A Mode is how a peer wants to be typed to.
type Mode uint8

const (
	// Lines: a line at a time, which is shown here while it is typed. Every
	// session of telnet begins so (RFC 854).
	Lines Mode = iota

	// HiddenLines: the same, but the peer shows it (RFC 857), or nobody: a
	// password.
	HiddenLines

	// Keys: each key at once (RFC 858), which the peer shows. Every session of
	// rlogin is so.
	Keys
)

// mode is what the peer has asked for.
func (o *options) mode() Mode {
	switch {
	case !o.him[optEcho]:
		return Lines
	case !o.him[optSGA]:
		return HiddenLines
	}
	return Keys
}

// enter is what the key Enter sends: the end of a line, or CR alone (RFC 854),
// which is what hosts that take each key expect.
func (o *options) enter() string {
	if o.mode() == Keys {
		return "\r\x00"
	}
	return "\r\n"
}
