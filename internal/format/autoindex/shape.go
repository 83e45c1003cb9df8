package autoindex

// A shape describes a short text of fixed form. In a shape, "9" matches a digit,
// "A" an upper-case letter, "a" a lower-case letter, and "P" the letter "A" or
// "P". The character "?" makes the character before it optional. Every other
// character matches itself.
//
// Shapes replace regular expressions. Package regexp would add 150 kB to
// a program that only downloads files.
type shape string

// findAny returns the first part of text with one of the shapes. At the same
// position, the first shape is preferred.
func findAny(shapes []shape, text string) (start, end int, ok bool) {
	for i := range len(text) {
		for _, s := range shapes {
			if n, ok := s.match(text[i:]); ok {
				return i, i + n, true
			}
		}
	}
	return 0, 0, false
}

// match returns the length of the longest prefix of text with the shape.
func (s shape) match(text string) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		fits := n < len(text) && fits(s[i], text[n])
		if i+1 < len(s) && s[i+1] == '?' {
			if rest := s[i+2:]; fits {
				if m, ok := rest.match(text[n+1:]); ok {
					return n + 1 + m, true
				}
			}
			i++
			continue
		}
		if !fits {
			return 0, false
		}
		n++
	}
	return n, true
}

// fits reports whether c matches the shape character in.
func fits(in, c byte) bool {
	switch in {
	case '9':
		return isDigit(c)
	case 'A':
		return 'A' <= c && c <= 'Z'
	case 'a':
		return 'a' <= c && c <= 'z'
	case 'P':
		return c == 'A' || c == 'P'
	}
	return in == c
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
