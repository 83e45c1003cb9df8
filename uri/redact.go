package uri

import "strings"

// mask stands for a secret.
const mask = "***"

// Redact returns text for a terminal or a log: it masks the password of every
// URI in text, and the value of every query or fragment parameter whose name
// is that of a secret, such as "token" or "X-Amz-Signature". The result need
// not contain valid URIs any more. Text without secrets is returned unchanged.
func Redact(text string) string {
	var b strings.Builder
	var t token
	seen, word := 0, 0 // text[:seen] is in b; text[word:i] are scheme characters
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

// A token is the text up to the next blank or quotation mark. It is kept
// between calls so that Redact is linear.
type token struct {
	end int
	at  int // the last at sign before end, or -1
}

func (t *token) find(text string, i int) {
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

// password returns the bounds of the password in the URI whose scheme is
// text[start:i-1], or an empty range. A URI without a host that should have
// one is taken for a mistyped login, as in "http:user:secret@host/" and
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
	} else if hosted(scheme) { // the password may hold any of / ? #
		t.find(text, i)
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

// hosted reports whether the URIs of a scheme name a host. Those of news name
// messages as well, which hold colons and an at sign.
func hosted(scheme string) bool {
	scheme = strings.ToLower(scheme)
	_, ok := DefaultPort(scheme)
	return ok && scheme != "news" && scheme != "snews"
}

// maxParameter bounds the name of a parameter, so that Redact is linear.
const maxParameter = 100

// secretValue returns the bounds of the value of the parameter that begins at
// text[i], or an empty range if its name is not that of a secret. A message
// often goes on with ": " behind a URL, which is not part of the value.
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

// isSecret reports whether a parameter of that name holds a secret. Short
// words count only as a word of their own, or "author" would be one.
func isSecret(name string) bool {
	if plain, err := Unescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	if name == "code" { // of OAuth; names such as "zip_code" hold no secret
		return true
	}
	for _, part := range []string{"token", "secret", "csrf", "xsrf", "passw", "passphrase", "pwd", "signature", "credential", "session", "sessid"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') }) {
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
