package transcript

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
)

// maxText is the maximum length in bytes of a text in a conversation.
const maxText = 4 << 20

// A Talk parses conversations.
type Talk struct {
	Phrases map[string]string // the lines of each phrase, by name
	Certs   *faultnet.Certs   // certificates for the verb tls; if nil, tls is not a verb
}

// A Conversation holds the bytes that both sides are expected to send on a
// connection.
type Conversation struct {
	Script faultnet.Script // steps of the server
	Sent   string          // bytes that the client must send
	Said   string          // text that the server sends, without the bytes from verbs

	refused bool // the connection is refused or never answered
	tls     bool // the conversation contains a TLS handshake
}

// Parse parses the lines of a conversation.
func (k Talk) Parse(text string) (c Conversation, err error) {
	err = k.parse(&c, text, nil)
	return c, err
}

// parse appends the steps in text to a conversation. The list within contains
// the names of the enclosing phrases. With this list, parse detects a phrase
// that contains itself.
func (k Talk) parse(c *Conversation, text string, within []string) error {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		mark, text, _ := strings.Cut(l, " ")
		said, err := unquote(text)
		if err != nil {
			return err
		}
		switch mark {
		case "<":
			c.send(said + "\r\n")
		case "<<":
			c.send(said)
		case ">":
			c.Sent += said + "\r\n"
			c.Script = append(c.Script, expectLine(said+"\r\n"))
		case "=":
			if err := k.phraseOrVerb(c, text, within); err != nil {
				return err
			}
		default:
			return fmt.Errorf("line %q begins with none of < << > =", l)
		}
	}
	return nil
}

func (c *Conversation) send(text string) {
	c.Said += text
	c.Script = append(c.Script, faultnet.Send(text))
}

func (k Talk) phraseOrVerb(c *Conversation, text string, within []string) error {
	if phrase, ok := k.Phrases[text]; ok {
		if len(within) > len(k.Phrases) {
			return fmt.Errorf("phrase %q contains itself: %q", text, within)
		}
		return k.parse(c, phrase, append(within, text))
	}
	step, ok := k.verb(text)
	if !ok {
		return fmt.Errorf("%q is neither a phrase nor a verb", text)
	}
	c.Script = append(c.Script, step)
	c.tls = c.tls || strings.HasPrefix(text, "tls")
	c.refused = c.refused || text == "refuse" || text == "blackhole"
	return nil
}

// verb returns the step for a verb with its argument, such as "delay 10s".
func (k Talk) verb(text string) (step faultnet.Step, ok bool) {
	if name, argument, _ := strings.Cut(text, " "); argument != "" {
		switch name {
		case "delay":
			d, err := time.ParseDuration(argument)
			return faultnet.Delay(d), err == nil
		case "bytes", "drip":
			n, err := strconv.ParseInt(argument, 10, 64)
			if err != nil || n < 0 || name == "drip" && n > maxText {
				return step, false
			}
			if name == "bytes" {
				return faultnet.SendBytes(n), true
			}
			return faultnet.SendSlow(strings.Repeat("x", int(n)), 1, time.Second), true
		}
	}
	var make func() faultnet.Step
	if strings.HasPrefix(text, "tls") && k.Certs != nil {
		make, ok = map[string]func() faultnet.Step{
			"tls": func() faultnet.Step { return k.Certs.TLS() }, "tls wrong": k.Certs.WrongHost, "tls expired": k.Certs.Expired,
			"tls self-signed": k.Certs.SelfSigned, "tls stall": faultnet.TLSStall, "tls cut": faultnet.TLSCut,
		}[text]
	} else {
		make, ok = map[string]func() faultnet.Step{
			"fin": faultnet.Fin, "reset": faultnet.Reset, "stall": faultnet.Stall, "refuse": faultnet.Refuse,
			"blackhole": faultnet.Blackhole, "deflate": faultnet.Deflate,
		}[text]
	}
	if !ok {
		return step, false
	}
	return make(), true
}

// expectLine returns a step that reads one line and compares it with want.
func expectLine(want string) faultnet.Step {
	return faultnet.Do("expect "+strconv.Quote(want), func(c *faultnet.Conn) error {
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

// untilClosed returns a step that waits until the client closes the connection.
func untilClosed() faultnet.Step {
	return faultnet.Do("wait", func(c *faultnet.Conn) error { c.All(); return nil })
}

// unquote decodes a quoted text such as "ab"*3, which means "ababab". It
// returns unquoted text unchanged.
func unquote(text string) (string, error) {
	quoted, times := text, 1
	if i := strings.LastIndex(text, `"*`); i > 0 {
		if n, err := strconv.Atoi(text[i+2:]); err == nil && n >= 0 {
			quoted, times = text[:i+1], n
		}
	}
	said, err := strconv.Unquote(quoted)
	if err != nil || quoted[0] != '"' {
		return text, nil
	}
	if len(said) > maxText || times > maxText/max(len(said), 1) {
		return "", fmt.Errorf("%s is over %d bytes", text, maxText)
	}
	return strings.Repeat(said, times), nil
}
