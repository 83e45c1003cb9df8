package uri

// A Set is a set of ASCII characters. The predefined sets have the names used
// by RFC 3986 and can be combined with "|". No set contains "%" or a non-ASCII
// byte.
type Set uint16

// The first ten constants divide the ASCII characters into disjoint groups. The
// exported sets are the character classes of RFC 3986 section 2 and the
// characters that each component may contain unencoded.
const (
	alpha Set = 1 << iota
	digit
	hexAF    // a-f and A-F, which are also in alpha
	mark     // - . _ ~
	plus     // "+", separate from the other sub-delims because a scheme may contain it
	subDelim // ! $ & ' ( ) * , ; =
	colon
	at
	slash
	question
	schemeMark // "-" and ".", which a scheme may contain and which are also in mark

	Unreserved = alpha | digit | mark
	SubDelims  = subDelim | plus

	RegNameChars   = Unreserved | SubDelims // also valid in a user name or a password
	UserinfoChars  = RegNameChars | colon
	SegmentNoColon = RegNameChars | at // the first segment of a relative path
	Segment        = SegmentNoColon | colon
	Path           = Segment | slash
	QueryChars     = Path | question
	FragmentChars  = QueryChars

	schemeChars = alpha | digit | plus | schemeMark
	hexDigit    = digit | hexAF
)

// Has reports whether c is in the set.
func (s Set) Has(c byte) bool { return class[c]&s != 0 }

// class maps each byte to the single-character groups that contain it.
var class = func() (t [256]Set) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = alpha, alpha
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c], t[c-'a'+'A'] = alpha|hexAF, alpha|hexAF
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digit
	}
	for _, c := range "!$&'()*,;=" {
		t[c] = subDelim
	}
	t['-'], t['.'], t['_'], t['~'] = mark|schemeMark, mark|schemeMark, mark, mark
	t['+'], t[':'], t['@'], t['/'], t['?'] = plus, colon, at, slash, question
	return
}()

// spanEncoded returns the offset of the first byte at or after s[i] that is
// neither in set nor part of a valid percent-encoding.
func spanEncoded(s string, i int, set Set) int {
	for i < len(s) {
		if class[s[i]]&set != 0 {
			i++
		} else if isEncoded(s, i) {
			i += 3
		} else {
			break
		}
	}
	return i
}

// spanRaw returns the offset of the first byte at or after s[i] that is not in
// set.
func spanRaw(s string, i int, set Set) int {
	for i < len(s) && class[s[i]]&set != 0 {
		i++
	}
	return i
}

// isEncoded reports whether a percent-encoding starts at s[i].
func isEncoded(s string, i int) bool {
	return s[i] == '%' && i+2 < len(s) && hexDigit.Has(s[i+1]) && hexDigit.Has(s[i+2])
}
