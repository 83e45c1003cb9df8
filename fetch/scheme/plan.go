package scheme

import "github.com/anyurl/fetch/uri"

// A Step is one protocol action of a plan, such as the FTP command "RETR motd".
type Step struct {
	Verb   string `json:"verb"` // name of the action, such as "RETR"
	Arg    string `json:"arg,omitempty"`
	Else   string `json:"else,omitempty"` // the verb to try if the server rejects Verb
	Secret bool   `json:"secret,omitempty"`
}

// String returns the step as one line of text. It masks secrets by
// [uri.Redact].
func (s Step) String() string {
	line := s.Verb
	switch {
	case s.Secret:
		line += " ***"
	case s.Arg != "":
		line += " " + uri.Redact(s.Arg)
	}
	if s.Else != "" {
		line += " (else " + s.Else + ")"
	}
	return line
}
