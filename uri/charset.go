package uri

// A Set is a set of ASCII characters. Sets can be combined with "|". The
// predefined sets are named after the character classes of RFC 3986. No set
// contains "%" or a non-ASCII byte.
type Set uint16

// The unexported constants divide the ASCII characters into small groups. The
// exported sets are combinations of these groups. They are the character
// classes of RFC 3986 section 2, and the unencoded characters that a component
// may contain.
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

// Has reports whether the set contains the byte c.
func (s Set) Has(c byte) bool { return class[c]&s != 0 }

// class[c] is the set of all groups that contain the byte c.
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

// spanEncoded returns the end of the longest substring that starts at s[i] and
// consists of characters in set and valid percent-encodings.
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

// spanRaw returns the end of the longest substring that starts at s[i] and
// consists of characters in set.
func spanRaw(s string, i int, set Set) int {
	for i < len(s) && class[s[i]]&set != 0 {
		i++
	}
	return i
}

// isEncoded reports whether s[i] is the "%" of a valid percent-encoding.
func isEncoded(s string, i int) bool {
	return s[i] == '%' && i+2 < len(s) && hexDigit.Has(s[i+1]) && hexDigit.Has(s[i+2])
}
