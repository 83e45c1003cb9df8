package faultnet

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Talk reads conversations as transcripts have them, a line each:
//
//	< text   the server says text and CR LF
//	<< text  the same without CR LF
//	> text   the client says text and CR LF, byte for byte
//	= name   a phrase, or a verb: reset, fin, stall, "delay 10s", or Verb's
//
// A text in quotes is read as Go would; "*3" behind it says it three times.
type Talk struct {
	Phrases map[string]string              // what is said often, by name: lines, phrases among them
	Verb    func(text string) (Step, bool) // nil: no further verbs
}

// Script is what the server does in a conversation. It ends when the client
// does. What the client said beyond its lines is in Conn.Sent, to be held
// against sent, all that it has to say.
func (k Talk) Script(text string) (s Script, sent string, err error) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		kind, text, _ := strings.Cut(l, " ")
		said := unquote(text)
		switch kind {
		case "<":
			s = append(s, Send(said+"\r\n"))
		case "<<":
			s = append(s, Send(said))
		case ">":
			sent += said + "\r\n"
			s = append(s, hear(said+"\r\n"))
		case "=":
			if phrase, ok := k.Phrases[text]; ok {
				inner, more, err := k.Script(phrase)
				if err != nil {
					return nil, "", err
				}
				s, sent = append(s, inner[:len(inner)-1]...), sent+more
				continue
			}
			step, ok := k.verb(text)
			if !ok {
				return nil, "", fmt.Errorf("%q is no verb", text)
			}
			s = append(s, step)
		default:
			return nil, "", fmt.Errorf("line %q begins with none of < << > =", l)
		}
	}
	return append(s, Do("wait", func(c *Conn) error { c.All(); return nil })), sent, nil
}

func (k Talk) verb(text string) (Step, bool) {
	what, arg, _ := strings.Cut(text, " ")
	switch what {
	case "reset":
		return Reset(), true
	case "fin":
		return Fin(), true
	case "stall":
		return Stall(), true
	case "delay":
		d, err := time.ParseDuration(arg)
		return Delay(d), err == nil
	}
	if k.Verb == nil {
		return Step{}, false
	}
	return k.Verb(text)
}

// hear takes one line of the client, which has to be this.
func hear(want string) Step {
	return Do("hear "+strconv.Quote(want), func(c *Conn) error {
		got, err := c.ReadLine()
		if err == nil && got != want {
			err = fmt.Errorf("got %q, want %q", got, want)
		}
		if err == io.EOF {
			err = fmt.Errorf("client ended, want %q", want)
		}
		return err
	})
}

func unquote(text string) string {
	quoted, times := text, 1
	if i := strings.LastIndex(text, `"*`); i > 0 {
		if n, err := strconv.Atoi(text[i+2:]); err == nil && n >= 0 {
			quoted, times = text[:i+1], n
		}
	}
	if said, err := strconv.Unquote(quoted); err == nil {
		return strings.Repeat(said, times)
	}
	return text
}
