package z3950

// The tags of elements, in the numeric order of RFC 1625 and the WAIS
// extensions.
const (
	tagReference       = 2
	tagProtocolVersion = 3
	tagOptions         = 4
	tagPreferredSize   = 5
	tagMaximumSize     = 6
	tagID              = 7
	tagImplementation  = 8
	tagImplementor     = 9
	tagRelease         = 10
	tagResultSet       = 17
	tagDatabases       = 18
	tagElementSets     = 19
	tagQueryType       = 20
	tagTermQuery       = 21
	tagResultSetStatus = 26
	tagPresentStatus   = 27
	tagDiagnostic      = 28
	tagAttributes      = 44
	tagTerm            = 45
	tagOperator        = 46
	tagUserInformation = 99
	tagChunkCode       = 100
	tagChunkIDLength   = 101
	tagChunkMarker     = 102
	tagHighlight       = 103
	tagDeHighlight     = 104
	tagNewline         = 105
	tagSeedWords       = 106
	tagDocumentIDChunk = 107
	tagChunkStart      = 108
	tagChunkEnd        = 109
	tagTextList        = 110
	tagDateFactor      = 111
	tagBeginDate       = 112
	tagEndDate         = 113
	tagMaxDocuments    = 114
	tagSeedWordsUsed   = 115
	tagDocumentID      = 116
	tagVersion         = 117
	tagScore           = 118
	tagBestMatch       = 119
	tagLength          = 120
	tagSource          = 121
	tagDate            = 122
	tagHeadline        = 123
	tagCity            = 124
	tagText            = 127
	tagStockCodes      = 128
	tagCompanyCodes    = 129
	tagIndustryCodes   = 130
	tagLines           = 131
	tagTypes           = 132
	tagType            = 133
)

// A Number is an optional number in a message. The zero value is an absent
// number.
type Number struct {
	Value uint32
	Set   bool
}

// Some returns a Number with the value v.
func Some(v uint32) Number { return Number{v, true} }

// maxVarint is the maximum length in bytes of an encoded tag or length,
// including leading zeros.
const maxVarint = 8

// cutVarint decodes an integer in base 128, most significant digit first. All
// bytes except the last have the high bit set.
func cutVarint(b []byte) (v uint32, rest []byte, err error) {
	for i, c := range b {
		switch {
		case i == maxVarint, v >= 1<<25:
			return 0, nil, malformed("tag or length does not fit")
		case c < 0x80:
			return v<<7 | uint32(c), b[i+1:], nil
		}
		v = v<<7 | uint32(c&0x7f)
	}
	return 0, nil, malformed("tag or length is cut")
}

func appendVarint(dst []byte, v uint32) []byte {
	for shift := 28; shift > 0; shift -= 7 {
		if v>>shift != 0 {
			dst = append(dst, byte(v>>shift)|0x80)
		}
	}
	return append(dst, byte(v)&0x7f)
}

// sizeVarint returns the number of bytes that appendVarint appends for v.
func sizeVarint(v uint32) (n int) {
	for n = 1; v >= 0x80; n++ {
		v >>= 7
	}
	return n
}

// cut decodes the first element in b. The result rest contains the bytes after
// the element.
func cut(b []byte) (tag uint32, value, rest []byte, err error) {
	tag, b, err = cutVarint(b)
	if err != nil {
		return 0, nil, nil, err
	}
	n, b, err := cutVarint(b)
	if err != nil {
		return 0, nil, nil, err
	}
	if uint64(n) > uint64(len(b)) {
		return 0, nil, nil, malformed("element %d of %d bytes in %d", tag, n, len(b))
	}
	return tag, b[:n:n], b[n:], nil
}

// each calls do for every element in b.
func each(b []byte, do func(tag uint32, value []byte) error) error {
	for len(b) > 0 {
		tag, value, rest, err := cut(b)
		if err == nil {
			err = do(tag, value)
		}
		if err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// parseNumber decodes a big-endian integer of at most four bytes.
func parseNumber(value []byte) (Number, error) {
	if len(value) == 0 || len(value) > 4 {
		return Number{}, malformed("number of %d bytes", len(value))
	}
	n := Number{Set: true}
	for _, c := range value {
		n.Value = n.Value<<8 | uint32(c)
	}
	return n, nil
}

// Binary returns the big-endian form of v without leading zeros.
func Binary(v uint32) []byte {
	b := []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
	for len(b) > 1 && b[0] == 0 {
		b = b[1:]
	}
	return b
}

func appendElement(dst []byte, tag uint32, value []byte) []byte {
	dst = appendVarint(appendVarint(dst, tag), uint32(len(value)))
	return append(dst, value...)
}

// appendBytes appends an element with the given tag. It appends no element if
// value is nil.
func appendBytes(dst []byte, tag uint32, value []byte) []byte {
	if value == nil {
		return dst
	}
	return appendElement(dst, tag, value)
}

func appendNumber(dst []byte, tag uint32, n Number) []byte {
	if !n.Set {
		return dst
	}
	return appendElement(dst, tag, Binary(n.Value))
}

// appendGroup appends an element with the given tag. The function write appends
// the value of the element.
func appendGroup(dst []byte, tag uint32, write func([]byte) []byte) []byte {
	dst = appendVarint(dst, tag)
	start := len(dst)
	dst = write(dst)
	n := uint32(len(dst) - start)
	size := sizeVarint(n)
	dst = append(dst, make([]byte, size)...)
	copy(dst[start+size:], dst[start:len(dst)-size])
	appendVarint(dst[:start], n)
	return dst
}

// elements lists the elements of a group in encoding order. Each has a tag and
// a pointer to a []byte, a Number or a [][]byte.
type elements []struct {
	tag uint32
	at  any
}

func (e elements) append(dst []byte) []byte {
	for _, el := range e {
		switch at := el.at.(type) {
		case *[]byte:
			dst = appendBytes(dst, el.tag, *at)
		case *Number:
			dst = appendNumber(dst, el.tag, *at)
		case *[][]byte:
			if *at != nil {
				dst = appendGroup(dst, el.tag, func(dst []byte) []byte { return appendTypes(dst, *at) })
			}
		}
	}
	return dst
}

// read decodes elements in any order. It skips unknown elements. If an element
// occurs twice, read keeps the last value.
func (e elements) read(b []byte) error { return each(b, e.put) }

func (e elements) put(tag uint32, value []byte) (err error) {
	for _, el := range e {
		if el.tag != tag {
			continue
		}
		switch at := el.at.(type) {
		case *[]byte:
			*at = value
		case *Number:
			*at, err = parseNumber(value)
		case *[][]byte:
			*at, err = parseTypes(value)
		}
	}
	return err
}

// maxTypes is the maximum number of types that a record may list for a
// document.
const maxTypes = 100

func parseTypes(b []byte) ([][]byte, error) {
	types := [][]byte{}
	err := each(b, func(tag uint32, value []byte) error {
		if len(types) == maxTypes {
			return malformed("document of more than %d types", maxTypes)
		}
		if tag == tagType {
			types = append(types, value)
		}
		return nil
	})
	return types, err
}

func appendTypes(dst []byte, types [][]byte) []byte {
	for _, t := range types {
		dst = appendElement(dst, tagType, t)
	}
	return dst
}

// cutUser returns the user information at the end of a message, or nil if there
// is none. Its tag must be want.
func cutUser(b []byte, want uint32) ([]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	tag, value, rest, err := cut(b)
	switch {
	case err != nil:
		return nil, err
	case tag != want:
		return nil, malformed("user information has tag %d, not %d", tag, want)
	case len(rest) > 0:
		return nil, malformed("%d bytes behind the user information", len(rest))
	}
	return value, nil
}
