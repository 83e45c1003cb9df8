package uri

import "strings"

// mask replaces a secret.
const mask = "***"

// Redact returns text with secrets replaced by "***", for output to a terminal
// or a log. Secrets are the password of every URI in text, and the value of
// every query or fragment parameter with a name such as "token" or
// "X-Amz-Signature". The URIs in the result may be invalid. Redact returns text
// without secrets unchanged.
func Redact(text string) string {
	var b strings.Builder
	var t token
	seen, word := 0, 0 // text[:seen] has been written to b; text[word:i] holds only scheme characters
	for i := 0; i < len(text); {
		from, to := 0, 0
		switch c := text[i]; {
		case c == ':' && word < i && alpha.Has(text[word]):
			from, to = t.password(text, word, i+1)
		case c == '?' || c == '&' || c == ';' || c == '#':
			from, to = secretValue(text, i+1)
		}
		if from < to {
			b.WriteString(text[seen:from])
			b.WriteString(mask)
			seen, word, i = to, to, to
			continue
		}
		if !schemeChars.Has(text[i]) {
			word = i + 1
		}
		i++
	}
	if seen == 0 {
		return text
	}
	b.WriteString(text[seen:])
	return b.String()
}

// A token caches the extent of the text up to the next blank or quotation mark.
// The cache makes Redact linear.
type token struct {
	end int
	at  int // offset of the last at sign before end, or -1
}

// matchAt updates t for the text at offset i.
func (t *token) update(text string, i int) {
	if i < t.end {
		return
	}
	t.end = len(text)
	if n := strings.IndexAny(text[i:], " \t\r\n\"<>"); n >= 0 {
		t.end = i + n
	}
	if t.at = strings.LastIndexByte(text[i:t.end], '@'); t.at >= 0 {
		t.at += i
	}
}

// password returns the bounds of the password in a URI, or an empty range. The
// scheme of the URI is text[start:i-1]. A URI that lacks a required host is
// treated as a mistyped login, as in "http:user:secret@host/" and
// "http:///user:secret@host/".
func (t *token) password(text string, start, i int) (from, to int) {
	scheme, front := text[start:i-1], i
	for i < len(text) && (text[i] == '/' || text[i] == '\\') {
		i++
	}
	if i-front == 2 {
		end := len(text)
		if n := strings.IndexAny(text[i:], " \t\r\n\"<>/?#"); n >= 0 {
			end = i + n
		}
		to = strings.LastIndexByte(text[i:end], '@') + i
	} else if schemeHasHost(scheme) { // the password may hold any of / ? #
		t.update(text, i)
		to = t.at
	}
	if to <= i {
		return 0, 0
	}
	colon := strings.IndexByte(text[i:to], ':')
	if colon < 0 {
		return 0, 0
	}
	return i + colon + 1, to
}

// schemeHasHost reports whether URIs of scheme name a host. The news schemes do
// not count, because their URIs may contain a message ID with colons and an at
// sign.
func schemeHasHost(scheme string) bool {
	scheme = strings.ToLower(scheme)
	_, ok := DefaultPort(scheme)
	return ok && scheme != "news" && scheme != "snews"
}

// maxParameter is the maximum length of a parameter name in bytes. The limit
// makes Redact linear.
const maxParameter = 100

// secretValue returns the bounds of the value of the parameter at text[i]. The
// range is empty if the parameter is not a secret. Trailing punctuation, such
// as the ": " after a URL in a message, is not part of the value.
func secretValue(text string, i int) (from, to int) {
	name := text[i:min(len(text), i+maxParameter)]
	n := strings.IndexAny(name, "=?&;# \t\r\n\"<>")
	if n < 0 || name[n] != '=' || !isSecret(name[:n]) {
		return 0, 0
	}
	from = i + n + 1
	to = len(text)
	if n := strings.IndexAny(text[from:], "&# \t\r\n\"<>"); n >= 0 {
		to = from + n
	}
	if to == len(text) || text[to] == ' ' || text[to] == '\n' {
		to = from + len(strings.TrimRight(text[from:to], ":,;)"))
	}
	return from, to
}

// isSecret reports whether the parameter name indicates a secret. Short words
// such as "auth" must match a complete word, so that "author" is not a secret.
func isSecret(name string) bool {
	if plain, err := Unescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	if name == "code" { // an OAuth code; names such as "zip_code" are not secret
		return true
	}
	for _, part := range []string{"token", "secret", "csrf", "xsrf", "passw", "passphrase", "pwd",
		"signature", "credential", "session", "sessid"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	notInWord := func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') }
	for word := range strings.FieldsFuncSeq(name, notInWord) {
		switch word {
		case "sig", "sas", "pass", "auth", "oauth", "authorization", "jwt":
			return true
		}
		if strings.HasSuffix(word, "key") {
			return true
		}
	}
	return false
}
