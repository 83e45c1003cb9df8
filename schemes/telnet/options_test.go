package telnet

import (
	"bytes"
	"strings"
	"testing"
)

func typical() options {
	return options{
		agreeUs:  map[byte]bool{optBinary: true, optSGA: true, optTerminal: true, optWindow: true},
		agreeHim: map[byte]bool{optBinary: true, optEcho: true, optSGA: true},
		terminal: "XTERM",
	}
}

// run feeds a stream and returns its data, and what is answered.
func (o *options) run(in string) (text string, records int, answer string) {
	for _, b := range []byte(in) {
		switch o.feed(b) {
		case dataByte:
			text += string([]byte{b})
		case recordEnd:
			records++
		}
	}
	answer = string(o.out)
	o.out = o.out[:0]
	return text, records, answer
}

func TestOptions(t *testing.T) {
	for _, test := range []struct{ name, in, text, answer string }{
		{"no command", "plain\r\n", "plain\r\n", ""},
		{"doubled IAC", "a\xff\xffb", "a\xffb", ""},
		{"commands without options", "a\xff\xf1\xff\xf2\xff\xf6\xff\xf9\xff\xf4b", "ab", ""},
		{"commands that nobody knows", "\xff\x00\xff\x41x", "x", ""},
		{"will what we like", "\xff\xfb\x01\xff\xfb\x03\xff\xfb\x00", "", "\xff\xfd\x01\xff\xfd\x03\xff\xfd\x00"},
		{"will again", "\xff\xfb\x01\xff\xfb\x01", "", "\xff\xfd\x01"},
		{"will and wont", "\xff\xfb\x01\xff\xfc\x01\xff\xfc\x01", "", "\xff\xfd\x01\xff\xfe\x01"},
		{"wont what is off", "\xff\xfc\x01\xff\xfe\x00", "", ""},
		{"will what we do not like", "\xff\xfb\x05\xff\xfb\x05", "", "\xff\xfe\x05\xff\xfe\x05"},
		{"do what we do not like", "\xff\xfd\x01\xff\xfd\x20\xff\xfd\x23\xff\xfd\x27\xff\xfd\x24\xff\xfd\x22", "",
			"\xff\xfc\x01\xff\xfc\x20\xff\xfc\x23\xff\xfc\x27\xff\xfc\x24\xff\xfc\x22"},
		{"do the window of a pipe", "\xff\xfd\x1f", "", "\xff\xfc\x1f"},
		{"terminal", "\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0", "", "\xff\xfb\x18\xff\xfa\x18\x00XTERM\xff\xf0"},
		{"terminal that was not agreed to", "\xff\xfa\x18\x01\xff\xf0", "", ""},
		{"terminal once more", "\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0\xff\xfa\x18\x01\xff\xf0", "", "\xff\xfb\x18\xff\xfa\x18\x00XTERM\xff\xf0\xff\xfa\x18\x00XTERM\xff\xf0"},
		{"environment", "\xff\xfd\x27\xff\xfa\x27\x01\x00USER\x03SHELL\xff\xf0", "", "\xff\xfc\x27"},
		{"a display, a place", "\xff\xfa\x23\x01\xff\xf0\xff\xfa\x17\x01\xff\xf0", "", ""},
		{"IAC within a subnegotiation", "\xff\xfa\x27\xff\xff\xff\xf0x", "x", ""},
		{"subnegotiation without SE", "\xff\xfd\x18\xff\xfa\x18\x01\xff\xfb\x01x", "x", "\xff\xfb\x18\xff\xfd\x01"},
		{"subnegotiation without end", "\xff\xfa\x18" + strings.Repeat("x", 1<<20), "", ""},
		{"IAC at the end", "a\xff", "a", ""},
		{"verb at the end", "a\xff\xfd", "a", ""},
		{"a NUL stays here", "a\r\x00b", "a\r\x00b", ""},
	} {
		o := typical()
		text, _, answer := o.run(test.in)
		if text != test.text || answer != test.answer {
			t.Errorf("%s: got %q, answer %q, want %q, answer %q", test.name, text, answer, test.text, test.answer)
		}
		if cap(o.sub) > 2*maxSub {
			t.Errorf("%s: holds %d bytes", test.name, cap(o.sub))
		}
	}
}

// A peer that never tires hears nothing after a while; data goes on.
func TestOptionStorm(t *testing.T) {
	for name, in := range map[string]string{
		"of what we refuse":   "\xff\xfd\x05x",
		"of what we like":     "\xff\xfb\x01\xff\xfc\x01x",
		"of questions":        "\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0x",
		"of every option":     "\xff\xfd\x01\xff\xfd\x02\xff\xfd\x04\xff\xfb\x06x",
		"of wont and dont":    "\xff\xfc\x01\xff\xfe\x01x",
		"of subnegotiations":  "\xff\xfa\x01" + strings.Repeat("s", 2000) + "\xff\xf0x",
		"of unknown commands": "\xff\xa0x",
	} {
		o := typical()
		text, _, answer := o.run(strings.Repeat(in, 2_000))
		if len(text) != 2_000 || len(answer) > maxResponses*len("\xff\xfa\x18\x00XTERM\xff\xf0") {
			t.Errorf("storm %s: %d bytes of data, %d of answers", name, len(text), len(answer))
		}
	}
}

func TestWindow(t *testing.T) {
	o := typical()
	o.resize(80, 24)
	if _, _, answer := o.run("\xff\xfd\x1f"); answer != "\xff\xfb\x1f\xff\xfa\x1f\x00\x50\x00\x18\xff\xf0" {
		t.Errorf("agreed: %q", answer)
	}
	if _, _, answer := o.run("\xff\xfd\x1f"); answer != "" {
		t.Errorf("again: %q", answer)
	}
	o.resize(255, 0xff00)
	if _, _, answer := o.run(""); answer != "\xff\xfa\x1f\x00\xff\xff\xff\xff\x00\xff\xf0" {
		t.Errorf("resized: %q", answer)
	}
	if _, _, answer := o.run("\xff\xfe\x1f"); answer != "\xff\xfc\x1f" {
		t.Errorf("switched off: %q", answer)
	}
	if o.resize(1, 1); len(o.out) > 0 {
		t.Errorf("resized while off: %q", o.out)
	}
}

func TestRecords(t *testing.T) {
	h := newHost(nil)
	text, records, answer := h.options.run("\xff\xfd\x19\xff\xfb\x19\xff\xfd\x00\xff\xfb\x00\xff\xfd\x28ab\xff\xffc\xff\xefd\xff\xef")
	if text != "ab\xffcd" || records != 2 || answer != "\xff\xfb\x19\xff\xfd\x19\xff\xfb\x00\xff\xfd\x00\xff\xfc\x28" {
		t.Errorf("got %q, %d records, %q", text, records, answer)
	}
}

// FuzzTelnetStream: whatever a peer sends, and however it comes, the data is
// the same, answers are few, and each is a command of its own.
func FuzzTelnetStream(f *testing.F) {
	for _, s := range []string{"\xff\xfb\x25\xff\xfb\x26\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23", "\xff\xfa\x18\x01\xff\xf0", "a\r\x00\xff\xff\r\n",
		"\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0\xff\xfb\x03\xff\xfd\x1f\xff\xfd\x00\xff\xef", "\xff\xfa\xff\xff\xff\xfd\x00\xff"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		whole := &guard{Conn: &wire{in: bytes.Clone(in), step: len(in) + 1}, options: typical()}
		parts := &guard{Conn: &wire{in: bytes.Clone(in), step: int(step)%8 + 1}, options: typical()}
		whole.options.resize(80, 24)
		parts.options.resize(80, 24)
		a, b := drain(t, whole, len(in)), drain(t, parts, len(in))
		if !bytes.Equal(a, b) {
			t.Fatalf("%q: at once %q, in parts %q", in, a, b)
		}
		for rest := a; len(rest) > 0; rest = rest[1:] {
			if rest[0] == iac {
				if len(rest) < 2 || rest[1] != iac {
					t.Fatalf("%q: the library sees a command in %q", in, a)
				}
				rest = rest[1:]
			}
		}
		answer := whole.Conn.(*wire).out
		if !bytes.Equal(answer, parts.Conn.(*wire).out) || len(answer) > maxResponses*16+64*len(in) {
			t.Fatalf("%q: answers %q and %q", in, answer, parts.Conn.(*wire).out)
		}
		var mirror options // agrees to nothing, so all that it finds is commands
		if text, _, _ := mirror.run(string(answer)); text != "" || mirror.at != inData {
			t.Fatalf("%q: answer %q has data %q", in, answer, text)
		}
	})
}
