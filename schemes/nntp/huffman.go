package nntp

// endOfBlock is the symbol that ends a compressed block (RFC 1951 3.2.5).
const endOfBlock = 256

// A span is the range of lengths or distances that one symbol represents. The
// value is base plus an offset, which follows the symbol in the input. The field
// extra is the number of bits in the offset.
type span struct{ base, extra uint }

var (
	lengthTable   = spanTable(3, 8, 4, 28, 258)
	distanceTable = spanTable(1, 4, 2, 30, 0)
)

// spanTable returns the table of length or distance symbols of RFC 1951 3.2.5.
// The table has count symbols, followed by a symbol for the value last if last
// is not zero. The first noExtra symbols have no extra bits. Each subsequent
// group of symbols has one extra bit more than the previous group.
func spanTable(base uint, noExtra, group, count int, last uint) []span {
	var table []span
	for i := range count {
		extra := uint(0)
		if i >= noExtra {
			extra = uint(i-noExtra)/uint(group) + 1
		}
		table = append(table, span{base, extra})
		base += 1 << extra
	}
	if last > 0 {
		table = append(table, span{last, 0})
	}
	return table
}

const (
	maxCode  = 15 // maximum length of a code in bits
	fastBits = 10
)

// A huffman is a canonical Huffman code, with tables for decoding (RFC 1951
// 3.2.2).
type huffman struct {
	fast    [1 << fastBits]uint16 // symbol<<4 | size for each bit prefix, or 0 if the code is longer
	count   [maxCode + 1]uint16   // number of codes of each size
	symbols [288]uint16           // symbols in the order of their codes
}

// build sets h to the code in which symbol i has sizes[i] bits. It reports
// whether this code is valid. Like zlib, it accepts an incomplete code only if
// the code has at most one symbol.
func (h *huffman) build(sizes []uint8) bool {
	*h = huffman{}
	used := 0
	for _, size := range sizes {
		if size > 0 {
			h.count[size]++
			used++
		}
	}
	var offset, next [maxCode + 2]uint16
	free := 1
	for size := 1; size <= maxCode; size++ {
		free = free<<1 - int(h.count[size])
		if free < 0 {
			return false
		}
		offset[size+1] = offset[size] + h.count[size]
		next[size+1] = (next[size] + h.count[size]) << 1
	}
	if free > 0 && (used > 1 || used == 1 && h.count[1] == 0) {
		return false
	}
	for symbol, size := range sizes {
		if size == 0 {
			continue
		}
		h.symbols[offset[size]] = uint16(symbol)
		offset[size]++
		h.addFast(uint(next[size]), uint(size), uint16(symbol))
		next[size]++
	}
	return true
}

// addFast adds a code of size bits to the lookup table h.fast. The index in the
// table contains the bits of the code in reverse order, because the highest bit
// of a code comes first in the input.
func (h *huffman) addFast(code, size uint, symbol uint16) {
	if size > fastBits {
		return
	}
	reversed := uint(0)
	for range size {
		reversed = reversed<<1 | code&1
		code >>= 1
	}
	for i := reversed; i < uint(len(h.fast)); i += 1 << size {
		h.fast[i] = symbol<<4 | uint16(size)
	}
}

// decode decodes the symbol whose code starts at the lowest bit of bits, of
// which n bits are valid. It returns the symbol and the size of its code. The
// size is 0 if the n bits do not contain a complete code.
func (h *huffman) decode(bits uint64, n uint) (symbol, size uint) {
	if e := h.fast[bits&(1<<fastBits-1)]; e != 0 {
		if size = uint(e & 15); size <= n {
			return uint(e >> 4), size
		}
		return 0, 0
	}
	code, first, index := uint(0), uint(0), uint(0)
	for size = 1; size <= min(n, maxCode); size++ {
		code |= uint(bits) & 1
		bits >>= 1
		count := uint(h.count[size])
		if code-first < count {
			return uint(h.symbols[index+code-first]), size
		}
		index += count
		first = (first + count) << 1
		code <<= 1
	}
	return 0, 0
}

// setFixedCodes sets the fixed Huffman codes (RFC 1951 3.2.6).
func (z *inflater) setFixedCodes() {
	var sizes [288]uint8
	for i := range sizes {
		switch {
		case i < 144, i >= 280:
			sizes[i] = 8
		case i < 256:
			sizes[i] = 9
		default:
			sizes[i] = 7
		}
	}
	z.literals.build(sizes[:])
	for i := range 30 {
		sizes[i] = 5
	}
	z.distances.build(append(sizes[:30:30], 5, 5))
}

// codeOrder is the order in which a block header lists the code lengths for the
// code length alphabet (RFC 1951 3.2.7).
var codeOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the dynamic Huffman codes of a block (RFC 1951 3.2.7).
func (z *inflater) readCodes() error {
	var counts [3]uint
	for i, bits := range []uint{5, 5, 4} {
		var err error
		if counts[i], err = z.readBits(bits); err != nil {
			return err
		}
	}
	literals, distances := counts[0]+257, counts[1]+1
	if literals > 286 || distances > 30 {
		return errCorrupt
	}
	var sizes [286 + 30]uint8
	for i := range counts[2] + 4 {
		size, err := z.readBits(3)
		if err != nil {
			return err
		}
		sizes[codeOrder[i]] = uint8(size)
	}
	if !z.literals.build(sizes[:len(codeOrder)]) {
		return errCorrupt
	}
	if err := z.readCodeSizes(sizes[:literals+distances]); err != nil {
		return err
	}
	valid := sizes[endOfBlock] != 0 && z.literals.build(sizes[:literals]) &&
		z.distances.build(sizes[literals:literals+distances])
	if !valid {
		return errCorrupt
	}
	return nil
}

// readCodeSizes reads the sizes of the Huffman codes for literals and
// distances. The sizes are encoded with the code in z.literals.
func (z *inflater) readCodeSizes(sizes []uint8) error {
	for i := 0; i < len(sizes); {
		symbol, size := uint(0), uint(0)
		for z.refill(); ; z.refill() {
			if symbol, size = z.literals.decode(z.bits, z.bitCount); size > 0 {
				break
			}
			if err := z.undecodedError(); err != errNeedInput {
				return err
			}
			if err := z.fill(); err != nil {
				return err
			}
		}
		z.dropBits(size)
		if symbol < 16 {
			sizes[i] = uint8(symbol)
			i++
			continue
		}
		repeat := []struct{ bits, base uint }{{2, 3}, {3, 3}, {7, 11}}[symbol-16]
		extra, err := z.readBits(repeat.bits)
		if err != nil {
			return err
		}
		value, count := uint8(0), int(extra+repeat.base)
		if symbol == 16 && i > 0 {
			value = sizes[i-1]
		}
		if symbol == 16 && i == 0 || i+count > len(sizes) {
			return errCorrupt
		}
		for range count {
			sizes[i] = value
			i++
		}
	}
	return nil
}
