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

func (p *Parameters) append(dst []byte) []byte {
	dst = appendBytes(dst, tagProtocolVersion, p.Version)
	dst = appendBytes(dst, tagOptions, p.Options)
	dst = appendNumber(dst, tagPreferredSize, p.Preferred)
	dst = appendNumber(dst, tagMaximumSize, p.Maximum)
	dst = appendBytes(dst, tagID, p.ID)
	dst = appendBytes(dst, tagImplementation, p.Implementation)
	dst = appendBytes(dst, tagImplementor, p.Implementor)
	dst = appendBytes(dst, tagRelease, p.Release)
	return appendBytes(dst, tagReference, p.Reference)
}

func (p *Parameters) table() table {
	return table{
		tagProtocolVersion: &p.Version, tagOptions: &p.Options,
		tagPreferredSize: &p.Preferred, tagMaximumSize: &p.Maximum,
		tagID: &p.ID, tagImplementation: &p.Implementation, tagImplementor: &p.Implementor,
		tagRelease: &p.Release, tagReference: &p.Reference,
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
	return appendHead(dst, typeInit, p.append)
}

func (p *Init) decode(fields, rest []byte) error {
	if len(rest) > 0 {
		return malformed("Init with user information")
	}
	return p.table().read(fields)
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

// Append implements PDU.
func (p *InitResponse) Append(dst []byte) []byte {
	dst = appendHead(dst, typeInitResponse, func(dst []byte) []byte {
		return p.append(append(dst, truth(p.Accepted)))
	})
	return appendGroup(dst, tagUserInformation, func(dst []byte) []byte {
		dst = appendNumber(dst, tagChunkCode, p.ChunkCode)
		dst = appendNumber(dst, tagChunkIDLength, p.ChunkIDLength)
		dst = appendBytes(dst, tagChunkMarker, p.ChunkMarker)
		dst = appendBytes(dst, tagHighlight, p.HighlightOn)
		dst = appendBytes(dst, tagDeHighlight, p.HighlightOff)
		return appendBytes(dst, tagNewline, p.Newline)
	})
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
	if err := p.table().read(fields[1:]); err != nil {
		return err
	}
	user, err := cutUser(rest, tagUserInformation)
	if err != nil {
		return err
	}
	return table{
		tagChunkCode: &p.ChunkCode, tagChunkIDLength: &p.ChunkIDLength, tagChunkMarker: &p.ChunkMarker,
		tagHighlight: &p.HighlightOn, tagDeHighlight: &p.HighlightOff, tagNewline: &p.Newline,
	}.read(user)
}
