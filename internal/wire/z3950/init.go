package z3950

// Parameters contains the fields that Init and InitResponse have in common.
type Parameters struct {
	Version   []byte // bitmap, most significant bit first: version 1 is 0x80
	Options   []byte // bitmap: search, present, delete, access control, resource control
	Preferred Number // preferred message size in bytes
	Maximum   Number // maximum record size in bytes

	ID             []byte // name of the client
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

// An Init is the first message of a client, which negotiates message sizes. It
// is optional.
type Init struct{ Parameters }

// NewInit returns an Init for searches with responses of at most size bytes. It
// does not offer Present and Delete, because freeWAIS rejects clients that do.
func NewInit(id string, size uint32) *Init {
	return &Init{Parameters{
		Version: []byte{0x80}, Options: []byte{0x80},
		Preferred: Some(size), Maximum: Some(size), ID: []byte(id),
	}}
}

// Append appends the encoded Init to dst and returns the extended slice.
func (p *Init) Append(dst []byte) []byte {
	return appendHead(dst, typeInit, p.elements().append)
}

func (p *Init) decode(fields, rest []byte) error {
	if len(rest) > 0 {
		return malformed("Init with user information")
	}
	return p.elements().read(fields)
}

// An InitResponse is a server's reply to an Init. Maximum is the negotiated
// size.
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

// Append appends the encoded InitResponse to dst and returns the extended
// slice.
func (p *InitResponse) Append(dst []byte) []byte {
	dst = appendHead(dst, typeInitResponse, func(dst []byte) []byte {
		return p.elements().append(append(dst, boolByte(p.Accepted)))
	})
	return appendGroup(dst, tagUserInformation, p.user().append)
}

func boolByte(b bool) byte {
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
