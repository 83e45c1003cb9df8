package z3950

// Parameters are what both sides of an Init say. freeWAIS reads the first four
// by their place.
type Parameters struct {
	Version   []byte // bitmap, the first bit the highest: version 1 is 80
	Options   []byte // bitmap: search, present, delete, access control, resource control
	Preferred Number // message size in bytes
	Maximum   Number // record size in bytes

	ID             []byte // who asks
	Implementation []byte
	Implementor    []byte
	Release        []byte
	Reference      []byte
}

func (p *Parameters) elements() elements {
	return elements{
		{tagProtocolVersion, &p.Version}, {tagOptions, &p.Options}, {tagPreferredSize, &p.Preferred}, {tagMaximumSize, &p.Maximum},
		{tagID, &p.ID}, {tagImplementation, &p.Implementation}, {tagImplementor, &p.Implementor}, {tagRelease, &p.Release},
		{tagReference, &p.Reference},
	}
}

// An Init opens a conversation. It may be left out; it agrees on sizes.
type Init struct{ Parameters }

// NewInit asks for searches alone and answers of at most size bytes. freeWAIS
// refuses whoever offers Present or Delete.
func NewInit(id string, size uint32) *Init {
	return &Init{Parameters{
		Version: []byte{0x80}, Options: []byte{0x80},
		Preferred: Some(size), Maximum: Some(size), ID: []byte(id),
	}}
}

// Append implements PDU.
func (p *Init) Append(dst []byte) []byte {
	return appendHead(dst, typeInit, p.elements().append)
}

func (p *Init) decode(fields, rest []byte) error {
	if len(rest) > 0 {
		return malformed("Init with user information")
	}
	return p.elements().read(fields)
}

// An InitResponse answers an Init. Maximum is the size to go by.
type InitResponse struct {
	Accepted bool
	Parameters

	ChunkCode, ChunkIDLength  Number
	ChunkMarker               []byte
	HighlightOn, HighlightOff []byte
	Newline                   []byte
}

func (p *InitResponse) user() elements {
	return elements{
		{tagChunkCode, &p.ChunkCode}, {tagChunkIDLength, &p.ChunkIDLength}, {tagChunkMarker, &p.ChunkMarker},
		{tagHighlight, &p.HighlightOn}, {tagDeHighlight, &p.HighlightOff}, {tagNewline, &p.Newline},
	}
}

// Append implements PDU.
func (p *InitResponse) Append(dst []byte) []byte {
	dst = appendHead(dst, typeInitResponse, func(dst []byte) []byte {
		return p.elements().append(append(dst, truth(p.Accepted)))
	})
	return appendGroup(dst, tagUserInformation, p.user().append)
}

func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (p *InitResponse) decode(fields, rest []byte) error {
	if len(fields) < 1 {
		return malformed("InitResponse without result")
	}
	p.Accepted = fields[0] != 0
	if err := p.elements().read(fields[1:]); err != nil {
		return err
	}
	user, err := cutUser(rest, tagUserInformation)
	if err != nil {
		return err
	}
	return p.user().read(user)
}
