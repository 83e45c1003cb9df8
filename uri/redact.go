package uri

import "strings"

// mask is the text that replaces a secret.
const mask = "***"

// Redact replaces the secrets in text by "***", for output to a terminal or a
// log. Secrets are the passwords of URIs and the values of query or fragment
// parameters with names such as "token" or "X-Amz-Signature". The resulting
// URIs may be invalid. Redact returns text without secrets unchanged.
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

// A token is a part of the text without white space, quotation marks and angle
// brackets. Redact caches the end of the current token, so that it takes linear
// time.
type token struct {
	end int
	at  int // offset of the last at sign before end, or -1
}

// update sets t to the token that contains text[i].
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

// password returns the start and the end of the password in a URI, or two
// zeros. The scheme of the URI is text[start:i-1]. password also recognizes a
// password in a mistyped URI without a host, such as "http:user:secret@host/".
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

// schemeHasHost reports whether a URI with the given scheme contains a host. It
// returns false for news, because the message ID in a news URI may contain
// colons and an at sign.
func schemeHasHost(scheme string) bool {
	scheme = strings.ToLower(scheme)
	_, ok := DefaultPort(scheme)
	return ok && scheme != "news" && scheme != "snews"
}

// maxParameter is the maximum length in bytes of a parameter name that Redact
// recognizes. The limit ensures that Redact takes linear time.
const maxParameter = 100

// secretValue finds the value of the parameter at text[i] if the parameter name
// indicates a secret. It returns the start and the end of the value, or two
// zeros. Trailing punctuation, such as ": " after a URL in a message, is not
// part of the value.
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

// isSecret reports whether a parameter with the given name usually contains a
// secret. Short names such as "auth" must match a complete word, because
// "author" is not a secret.
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
