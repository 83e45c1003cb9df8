package mail

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// maxDepth limits the depth of part numbers and the nesting of parentheses in a
// search. For example, the part number "1.2.3" has depth 3.
const maxDepth = 32

// parseSection parses a message section (section-spec in RFC 3501 9) such as
// "1.2.MIME". It returns the section in canonical form.
func parseSection(text string) (string, error) {
	numbers, rest, err := parsePart(text)
	if err != nil {
		return "", err
	}
	word, list, listed := strings.Cut(rest, " ")
	word = strings.ToUpper(word)
	fields := word == "HEADER.FIELDS" || word == "HEADER.FIELDS.NOT"
	switch {
	case fields != listed:
		return "", badSection(text)
	case fields:
		if list, err = parseFields(list); err != nil {
			return "", err
		}
		word += " " + list
	case word == "HEADER", word == "TEXT", word == "MIME" && len(numbers) > 0:
	case word != "" || len(numbers) == 0:
		return "", badSection(text)
	}
	if word != "" {
		numbers = append(numbers, word)
	}
	return strings.Join(numbers, "."), nil
}

// parsePart parses the part number at the start of a section, such as "1.2".
func parsePart(text string) (numbers []string, rest string, err error) {
	for {
		number, more, dot := strings.Cut(text, ".")
		n, bad := strconv.ParseUint(number, 10, 32)
		if bad != nil {
			return numbers, text, nil
		}
		if n == 0 || len(numbers) == maxDepth || dot && more == "" {
			return nil, "", badSection(text)
		}
		numbers, text = append(numbers, strconv.FormatUint(n, 10)), more
		if !dot {
			return numbers, "", nil
		}
	}
}

// parseFields parses a list of header field names in parentheses, such as
// "(FROM TO)".
func parseFields(text string) (string, error) {
	inner, opened := strings.CutPrefix(text, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	names := strings.Split(inner, " ")
	invalid := func(s string) bool { return !isFieldName(s) }
	if !opened || !closed || len(names) > 100 || slices.ContainsFunc(names, invalid) {
		return "", fetch.BadURL.Errorf("invalid list of header fields in the section: %q", text)
	}
	return "(" + strings.Join(names, " ") + ")", nil
}

// isFieldName reports whether s is a valid header field name (RFC 5322 2.2)
// that can be sent to an IMAP server without quotes.
func isFieldName(s string) bool {
	return s != "" && len(s) < 100 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`:(){%*"\]`, r)
	})
}

func badSection(text string) error {
	return fetch.BadURL.Errorf("SECTION=%s is not a message section", text)
}

// mimeSection returns the section that holds the MIME header of a part, such as
// "1.2.MIME" for "1.2". It returns "" if section is not a part number.
func mimeSection(section string) string {
	if section == "" || strings.Trim(section, "0123456789.") != "" {
		return ""
	}
	return section + ".MIME"
}
