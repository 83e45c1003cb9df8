package telnet

// A Mode is the way in which a server expects keyboard input.
type Mode uint8

const (
	// Lines means that input is sent line by line and echoed locally. Each
	// telnet session starts in this mode (RFC 854).
	Lines Mode = iota

	// HiddenLines means that input is sent line by line and not echoed locally.
	// Either the server echoes it (RFC 857) or it is a password.
	HiddenLines

	// Keys means that each key is sent immediately and echoed by the server
	// (RFC 858). rlogin sessions are always in this mode.
	Keys
)

// mode returns the input mode that the server has negotiated.
func (o *options) mode() Mode {
	switch {
	case !o.him[optEcho]:
		return Lines
	case !o.him[optSGA]:
		return HiddenLines
	}
	return Keys
}

// enterKey returns the bytes to send for the Enter key. In Keys mode the server
// expects CR NUL, otherwise CR LF (RFC 854).
func (o *options) enterKey() string {
	if o.mode() == Keys {
		return "\r\x00"
	}
	return "\r\n"
}
