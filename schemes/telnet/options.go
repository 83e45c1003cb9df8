package telnet

// Telnet commands of RFC 854, RFC 855 and RFC 885.
const (
	cmdEOR  = 239
	cmdSE   = 240
	cmdSB   = 250
	cmdWILL = 251
	cmdWONT = 252
	cmdDO   = 253
	cmdDONT = 254
	iac     = 255
)

// Telnet options that the driver negotiates.
const (
	optBinary   = 0
	optEcho     = 1
	optSGA      = 3 // suppress go ahead
	optTerminal = 24
	optEOR      = 25
	optWindow   = 31 // window size (NAWS)
)

const (
	maxSub       = 1 << 10 // maximum length of a subnegotiation in bytes; the rest is discarded
	maxResponses = 64      // maximum number of option responses for each connection
)

// options is the negotiation state of all Telnet options of a connection. It
// implements the Q method of RFC 1143 for a side that never starts a
// negotiation, so each option is in the state NO or YES. A response is sent
// only if it changes the state or rejects a request. The zero value rejects all
// options.
type options struct {
	agreeUs, agreeHim map[byte]bool // options that may be enabled
	us, him           [256]bool     // options that are enabled
	terminal          string
	cols, rows        int // window size, or 0 if unknown

	state     state
	verb      byte
	sub       []byte
	responses int
	out       []byte // bytes to send
}

// A state is the state of the parser for Telnet commands.
type state uint8

const (
	inData   state = iota
	inIAC          // after IAC
	inVerb         // after WILL, WONT, DO or DONT
	inSub          // in a subnegotiation
	inSubIAC       // after IAC in a subnegotiation
)

// A kind is the result of parsing one byte of the received stream.
type kind uint8

const (
	noData kind = iota
	dataByte
	recordEnd // end of record (IAC EOR)
)

// parseByte parses the next byte of the received stream. If it returns
// dataByte, b is a byte of data and not part of a command.
func (o *options) parseByte(b byte) kind {
	switch o.state {
	case inData:
		if b != iac {
			return dataByte
		}
		o.state = inIAC
	case inIAC:
		return o.command(b)
	case inVerb:
		o.state = inData
		o.negotiate(o.verb, b)
	case inSub:
		if b == iac {
			o.state = inSubIAC
		} else if len(o.sub) < maxSub {
			o.sub = append(o.sub, b)
		}
	case inSubIAC:
		o.subIAC(b)
	}
	return noData
}

func (o *options) command(b byte) kind {
	o.state = inData
	switch b {
	case iac:
		return dataByte
	case cmdEOR:
		return recordEnd
	case cmdWILL, cmdWONT, cmdDO, cmdDONT:
		o.state, o.verb = inVerb, b
	case cmdSB:
		o.state, o.sub = inSub, o.sub[:0]
	}
	return noData // other commands require no response
}

// subIAC handles the byte after IAC in a subnegotiation. The command SE ends
// the subnegotiation. Any other command also ends the subnegotiation, because
// some servers omit SE.
func (o *options) subIAC(b byte) {
	switch b {
	case iac:
		if o.state = inSub; len(o.sub) < maxSub {
			o.sub = append(o.sub, b)
		}
	case cmdSE:
		o.state = inData
		o.subnegotiate()
	default:
		o.command(b)
	}
}

func (o *options) negotiate(verb, option byte) {
	switch verb {
	case cmdWILL:
		o.setOption(&o.him[option], o.agreeHim[option], true, cmdDO, cmdDONT, option)
	case cmdWONT:
		o.setOption(&o.him[option], false, false, cmdDO, cmdDONT, option)
	case cmdDO:
		agree := o.agreeUs[option] && (option != optWindow || o.cols > 0)
		was := o.us[option]
		if o.setOption(&o.us[option], agree, true, cmdWILL, cmdWONT, option) && !was && option == optWindow {
			o.sendWindow()
		}
	case cmdDONT:
		o.setOption(&o.us[option], false, false, cmdWILL, cmdWONT, option)
	}
}

// setOption enables or disables an option after a request of the server, sends
// the response and returns the new state.
func (o *options) setOption(on *bool, agree, wanted bool, yes, no, option byte) bool {
	switch {
	case wanted && *on, !wanted && !*on: // already in the requested state
	case wanted && agree:
		*on = true
		o.respond(iac, yes, option)
	default:
		*on = false
		o.respond(iac, no, option)
	}
	return *on
}

func (o *options) respond(text ...byte) {
	if o.responses < maxResponses {
		o.responses++
		o.out = append(o.out, text...)
	}
}

// subnegotiate handles the contents of a subnegotiation. It responds only to a
// request for the terminal type (RFC 1091).
func (o *options) subnegotiate() {
	if len(o.sub) == 2 && o.sub[0] == optTerminal && o.sub[1] == 1 && o.us[optTerminal] {
		text := append([]byte{iac, cmdSB, optTerminal, 0}, o.terminal...)
		o.respond(append(text, iac, cmdSE)...)
	}
}

// resize stores the window size, and sends it if the server has enabled the
// window size option.
func (o *options) resize(cols, rows int) {
	o.cols, o.rows = cols, rows
	if o.us[optWindow] {
		o.sendWindow()
	}
}

// sendWindow sends the window size (RFC 1073). This response does not count
// toward maxResponses, because users may resize a window many times.
func (o *options) sendWindow() {
	text := []byte{byte(o.cols >> 8), byte(o.cols), byte(o.rows >> 8), byte(o.rows)}
	o.out = append(o.out, iac, cmdSB, optWindow)
	o.out = append(appendDoubled(o.out, text), iac, cmdSE)
}

// appendDoubled appends data to dst with each IAC byte doubled.
func appendDoubled(dst, data []byte) []byte {
	for _, b := range data {
		if b == iac {
			dst = append(dst, iac)
		}
		dst = append(dst, b)
	}
	return dst
}
