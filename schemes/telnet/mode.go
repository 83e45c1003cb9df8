package telnet

// A Mode determines how a program must read keyboard input for a session, for
// example line by line with local echo.
type Mode uint8

const (
	// Lines means that input is sent line by line and echoed locally. Each
	// telnet session starts in this mode (RFC 854).
	Lines Mode = iota

	// HiddenLines means that input is sent line by line and not echoed locally,
	// because the server echoes the input (RFC 857) or the input is a password.
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

// enterKey returns the bytes to send for the Enter key. They are CR NUL in Keys
// mode and CR LF in other modes (RFC 854).
func (o *options) enterKey() string {
	if o.mode() == Keys {
		return "\r\x00"
	}
	return "\r\n"
}
