package uri

// A Set is a set of ASCII characters, by the names of RFC 3986. Sets are joined
// with "|". No set holds "%" or a byte outside ASCII.
type Set uint16

// The sets of RFC 3986 section 2 and what each component may hold unencoded.
const (
	alpha Set = 1 << iota
	digit
	hexAF    // a-f, A-F: letters too, with digit the hexadecimal digits
	mark     // - . _ ~
	plus     // + stands apart from the other sub-delims: schemes have it
	subDelim // ! $ & ' ( ) * , ; =
	colon
	at
	slash
	question
	schemeMark // - . again: what schemes share with mark

	Unreserved = alpha | digit | mark
	SubDelims  = subDelim | plus

	RegNameChars   = Unreserved | SubDelims // also one half of a userinfo
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

// class gives the one-character sets that each byte belongs to.
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

// span returns the end of the longest run from s[i] of characters in set and
// well-formed percent-encodings.
func span(s string, i int, set Set) int {
	for i < len(s) {
		if class[s[i]]&set != 0 {
			i++
		} else if encoded(s, i) {
			i += 3
		} else {
			break
		}
	}
	return i
}

// run returns the end of the longest run from s[i] of characters in set.
func run(s string, i int, set Set) int {
	for i < len(s) && class[s[i]]&set != 0 {
		i++
	}
	return i
}

// encoded reports whether a percent-encoding begins at s[i].
func encoded(s string, i int) bool {
	return s[i] == '%' && i+2 < len(s) && hexDigit.Has(s[i+1]) && hexDigit.Has(s[i+2])
}
