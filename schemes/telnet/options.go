package telnet

// The commands of RFC 854 that we know, those of RFC 855, and EOR of RFC 885.
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

// The options that we may agree to.
const (
	optBinary   = 0
	optEcho     = 1
	optSGA      = 3 // suppress go ahead
	optTerminal = 24
	optEOR      = 25
	optWindow   = 31 // NAWS
)

const (
	maxSub     = 1 << 10 // bytes of one subnegotiation that are read
	maxAnswers = 64      // after which a peer that goes on asking hears nothing
)

// options is one side's view of the options of a connection: the Q method of
// RFC 1143 for a side that never asks first, so that of its states NO and YES
// are left. An answer is given only where it changes something or refuses.
// The zero value refuses everything.
type options struct {
	agreeUs, agreeHim map[byte]bool // what may be switched on
	us, him           [256]bool     // what is
	terminal          string
	cols, rows        int // of the window; 0: nobody knows

	at      state
	verb    byte
	sub     []byte
	answers int
	out     []byte // to be sent
}

// state is where in a command the stream is.
type state uint8

const (
	inData   state = iota
	inIAC          // behind IAC
	inVerb         // behind WILL, WONT, DO, DONT
	inSub          // within SB
	inSubIAC       // behind IAC within SB
)

// kind says what a byte of the stream has completed.
type kind uint8

const (
	nothing kind = iota
	data
	record // IAC EOR
)

// feed takes the next byte of the stream. Of data that is the byte itself.
func (o *options) feed(b byte) kind {
	switch o.at {
	case inData:
		if b != iac {
			return data
		}
		o.at = inIAC
	case inIAC:
		return o.command(b)
	case inVerb:
		o.at = inData
		o.negotiate(o.verb, b)
	case inSub:
		if b == iac {
			o.at = inSubIAC
		} else if len(o.sub) < maxSub {
			o.sub = append(o.sub, b)
		}
	case inSubIAC:
		o.subIAC(b)
	}
	return nothing
}

func (o *options) command(b byte) kind {
	o.at = inData
	switch b {
	case iac:
		return data
	case cmdEOR:
		return record
	case cmdWILL, cmdWONT, cmdDO, cmdDONT:
		o.at, o.verb = inVerb, b
	case cmdSB:
		o.at, o.sub = inSub, o.sub[:0]
	}
	return nothing // the others ask for nothing that we have
}

// subIAC ends a subnegotiation at SE. Any other command there is a fault of
// the peer, who has forgotten SE.
func (o *options) subIAC(b byte) {
	switch b {
	case iac:
		if o.at = inSub; len(o.sub) < maxSub {
			o.sub = append(o.sub, b)
		}
	case cmdSE:
		o.at = inData
		o.subnegotiate()
	default:
		o.command(b)
	}
}

func (o *options) negotiate(verb, option byte) {
	switch verb {
	case cmdWILL:
		o.settle(&o.him[option], o.agreeHim[option], true, cmdDO, cmdDONT, option)
	case cmdWONT:
		o.settle(&o.him[option], false, false, cmdDO, cmdDONT, option)
	case cmdDO:
		agree := o.agreeUs[option] && (option != optWindow || o.cols > 0)
		if was := o.us[option]; o.settle(&o.us[option], agree, true, cmdWILL, cmdWONT, option) && !was && option == optWindow {
			o.tellWindow()
		}
	case cmdDONT:
		o.settle(&o.us[option], false, false, cmdWILL, cmdWONT, option)
	}
}

// settle makes on what the peer wants and we agree to, and reports what it is.
func (o *options) settle(on *bool, agree, wanted bool, yes, no, option byte) bool {
	switch {
	case wanted && *on, !wanted && !*on: // it is so already
	case wanted && agree:
		*on = true
		o.answer(iac, yes, option)
	default:
		*on = false
		o.answer(iac, no, option)
	}
	return *on
}

func (o *options) answer(text ...byte) {
	if o.answers < maxAnswers {
		o.answers++
		o.out = append(o.out, text...)
	}
}

// subnegotiate answers the one question that we answer: SEND of the terminal's
// type (RFC 1091).
func (o *options) subnegotiate() {
	if len(o.sub) == 2 && o.sub[0] == optTerminal && o.sub[1] == 1 && o.us[optTerminal] {
		text := append([]byte{iac, cmdSB, optTerminal, 0}, o.terminal...)
		o.answer(append(text, iac, cmdSE)...)
	}
}

// resize notes the size of the window, and tells it to a peer who wants to
// know.
func (o *options) resize(cols, rows int) {
	o.cols, o.rows = cols, rows
	if o.us[optWindow] {
		o.tellWindow()
	}
}

// tellWindow is RFC 1073. It is no answer: people change windows often.
func (o *options) tellWindow() {
	text := []byte{byte(o.cols >> 8), byte(o.cols), byte(o.rows >> 8), byte(o.rows)}
	o.out = append(o.out, iac, cmdSB, optWindow)
	o.out = append(appendDoubled(o.out, text), iac, cmdSE)
}

// appendDoubled appends data as it stands on the wire.
func appendDoubled(dst, data []byte) []byte {
	for _, b := range data {
		if b == iac {
			dst = append(dst, iac)
		}
		dst = append(dst, b)
	}
	return dst
}
