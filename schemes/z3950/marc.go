package z3950

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// A marc is a record in the exchange format of ISO 2709, which MARC uses.
type marc struct {
	leader string
	fields []marcField
}

// A marcField is a field of a MARC record: a control field with a text, or a
// data field with indicators and subfields.
type marcField struct {
	tag  string
	data []byte // without the field separator
}

// Separators of ISO 2709.
const (
	subfieldMark = 0x1F
	fieldEnd     = 0x1E
)

const (
	leaderSize    = 24
	entrySize     = 12 // size of a directory entry: tag, length, start
	maxMARCFields = 10_000
)

// parseMARC parses a MARC record. It returns false if b is not a valid record.
func parseMARC(b []byte) (m marc, ok bool) {
	if len(b) < leaderSize+1 {
		return m, false
	}
	m.leader = string(b[:leaderSize])
	base, err := strconv.ParseUint(m.leader[12:17], 10, 32)
	if err != nil || base < leaderSize || base > uint64(len(b)) {
		return m, false
	}
	directory, _, found := bytes.Cut(b[leaderSize:base], []byte{fieldEnd})
	if !found || len(directory)%entrySize != 0 || len(directory)/entrySize > maxMARCFields {
		return m, false
	}
	for ; len(directory) > 0; directory = directory[entrySize:] {
		length, err := strconv.ParseUint(string(directory[3:7]), 10, 32)
		start, err2 := strconv.ParseUint(string(directory[7:12]), 10, 32)
		if err != nil || err2 != nil || base+start+length > uint64(len(b)) {
			return m, false
		}
		data := b[base+start : base+start+length]
		m.fields = append(m.fields, marcField{string(directory[:3]), bytes.TrimRight(data, "\x1d\x1e")})
	}
	return m, true
}

// isControl reports whether the field has no indicators and subfields.
func (f marcField) isControl() bool { return strings.HasPrefix(f.tag, "00") }

const (
	maxTextSize = 2 << 20 // bytes of the text of a record, before the conversion to UTF-8
	maxMARCData = 1 << 20 // bytes of all fields that are shown; those of a hostile record may overlap
)

// text returns the record as lines: the tag, the indicators and the subfields.
// It returns false if the fields have more than maxMARCData bytes. A regular
// record has at most 99,999.
func (m marc) text() (text []byte, ok bool) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "LDR    %s\n", printable([]byte(m.leader)))
	size := 0
	for _, f := range m.fields {
		if size += len(f.data); size > maxMARCData {
			return nil, false
		}
		if f.isControl() || len(f.data) < 2 {
			fmt.Fprintf(&b, "%s    %s\n", printable([]byte(f.tag)), printable(f.data))
			continue
		}
		fmt.Fprintf(&b, "%s %s ", printable([]byte(f.tag)), printable(f.data[:2]))
		for i, s := range bytes.Split(f.data[2:], []byte{subfieldMark}) {
			if i > 0 && len(s) > 0 {
				fmt.Fprintf(&b, "$%s %s ", printable(s[:1]), printable(s[1:]))
			}
		}
		b.Truncate(len(bytes.TrimRight(b.Bytes(), " ")))
		b.WriteByte('\n')
	}
	return b.Bytes(), true
}

// printable returns b as UTF-8 text in which spaces replace control characters.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, textform.UTF8(b))
}

// title returns the title of the record: field 245 of MARC 21 or 200 of UNIMARC.
func (m marc) title(syntax string) string {
	tag := "245"
	if syntax == apdu.UNIMARC {
		tag = "200"
	}
	for _, f := range m.fields {
		if f.tag != tag || len(f.data) < 2 {
			continue
		}
		var parts []string
		for _, s := range bytes.Split(f.data[2:], []byte{subfieldMark}) {
			if len(s) > 1 && strings.IndexByte("abcenp", s[0]) >= 0 {
				parts = append(parts, textform.UTF8(s[1:]))
			}
		}
		return strings.Join(parts, " ")
	}
	return ""
}
