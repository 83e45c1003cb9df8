package apdu

import "github.com/anyurl/fetch/internal/wire/ber"

// Bit numbers in the options of an Init or an InitResponse.
const (
	optionSearch    = 0
	optionPresent   = 1
	optionNamedSets = 14
)

// An Init begins a session.
type Init struct {
	User, Password string // no authentication if User is empty
	MessageSize    int64  // preferred size of a response with several records, in bytes
	RecordSize     int64  // maximum size of a response with one record, in bytes
}

// Encode returns the encoded message. It offers the protocol versions 1 to 3,
// and the services search, present and named result sets.
func (p *Init) Encode() []byte {
	var login []byte
	if p.User != "" {
		login = ber.Group(7, ber.SequenceOf(ber.String(1, p.User), ber.String(2, p.Password)))
	}
	return ber.Group(tagInit,
		ber.Primitive(ber.Context, 3, []byte{5, 0xE0}),
		ber.Primitive(ber.Context, 4, []byte{1, 0xC0, 0x02}),
		ber.Number(5, p.MessageSize),
		ber.Number(6, p.RecordSize),
		login,
		ber.String(110, "81"), // number for implementors without a number of their own
		ber.String(111, "fetch"),
	)
}

// An InitResponse is the reply to an Init.
type InitResponse struct {
	Accepted    bool
	Version     int // highest version of the protocol that both sides support
	NamedSets   bool
	MessageSize int64
	RecordSize  int64

	Name, Release string // name and release of the server program
}

func (p *InitResponse) decode(all []ber.Element) error {
	for _, e := range all {
		switch {
		case e.Is(3):
			for n := range 3 {
				if e.Bit(n) {
					p.Version = n + 1
				}
			}
		case e.Is(4):
			p.NamedSets = e.Bit(optionNamedSets)
		}
	}
	return fields{12: &p.Accepted, 5: &p.MessageSize, 6: &p.RecordSize, 111: &p.Name, 112: &p.Release}.read(all)
}
