package telnet

import (
	"bytes"
	"strings"
	"testing"
)

func testOptions() options {
	return options{
		agreeUs:  map[byte]bool{optBinary: true, optSGA: true, optTerminal: true, optWindow: true},
		agreeHim: map[byte]bool{optBinary: true, optEcho: true, optSGA: true},
		terminal: "XTERM",
	}
}

// run parses a stream and returns its data, the number of records and the
// response.
func (o *options) run(in string) (text string, records int, response string) {
	for _, b := range []byte(in) {
		switch o.parseByte(b) {
		case dataByte:
			text += string([]byte{b})
		case recordEnd:
			records++
		}
	}
	response = string(o.out)
	o.out = o.out[:0]
	return text, records, response
}

func TestOptions(t *testing.T) {
	for _, test := range []struct{ name, in, text, response string }{
		{"no command", "plain\r\n", "plain\r\n", ""},
		{"doubled IAC", "a\xff\xffb", "a\xffb", ""},
		{"commands without options", "a\xff\xf1\xff\xf2\xff\xf6\xff\xf9\xff\xf4b", "ab", ""},
		{"unknown commands", "\xff\x00\xff\x41x", "x", ""},
		{"WILL for supported options", "\xff\xfb\x01\xff\xfb\x03\xff\xfb\x00", "", "\xff\xfd\x01\xff\xfd\x03\xff\xfd\x00"},
		{"repeated WILL", "\xff\xfb\x01\xff\xfb\x01", "", "\xff\xfd\x01"},
		{"WILL and WONT", "\xff\xfb\x01\xff\xfc\x01\xff\xfc\x01", "", "\xff\xfd\x01\xff\xfe\x01"},
		{"WONT and DONT for disabled options", "\xff\xfc\x01\xff\xfe\x00", "", ""},
		{"WILL for an unsupported option", "\xff\xfb\x05\xff\xfb\x05", "", "\xff\xfe\x05\xff\xfe\x05"},
		{"DO for unsupported options", "\xff\xfd\x01\xff\xfd\x20\xff\xfd\x23\xff\xfd\x27\xff\xfd\x24\xff\xfd\x22", "",
			"\xff\xfc\x01\xff\xfc\x20\xff\xfc\x23\xff\xfc\x27\xff\xfc\x24\xff\xfc\x22"},
		{"DO for the window size without a window", "\xff\xfd\x1f", "", "\xff\xfc\x1f"},
		{"terminal type request", "\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0", "", "\xff\xfb\x18\xff\xfa\x18\x00XTERM\xff\xf0"},
		{"terminal type request without the option", "\xff\xfa\x18\x01\xff\xf0", "", ""},
		{"repeated terminal type request", "\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0\xff\xfa\x18\x01\xff\xf0", "", "\xff\xfb\x18\xff\xfa\x18\x00XTERM\xff\xf0\xff\xfa\x18\x00XTERM\xff\xf0"},
		{"environment request", "\xff\xfd\x27\xff\xfa\x27\x01\x00USER\x03SHELL\xff\xf0", "", "\xff\xfc\x27"},
		{"display and location requests", "\xff\xfa\x23\x01\xff\xf0\xff\xfa\x17\x01\xff\xf0", "", ""},
		{"IAC in a subnegotiation", "\xff\xfa\x27\xff\xff\xff\xf0x", "x", ""},
		{"subnegotiation without SE", "\xff\xfd\x18\xff\xfa\x18\x01\xff\xfb\x01x", "x", "\xff\xfb\x18\xff\xfd\x01"},
		{"subnegotiation of unlimited length", "\xff\xfa\x18" + strings.Repeat("x", 1<<20), "", ""},
		{"IAC at the end", "a\xff", "a", ""},
		{"option command at the end", "a\xff\xfd", "a", ""},
		{"CR NUL", "a\r\x00b", "a\r\x00b", ""},
	} {
		o := testOptions()
		text, _, response := o.run(test.in)
		if text != test.text || response != test.response {
			t.Errorf("%s: got %q, response %q, want %q, response %q", test.name, text, response, test.text, test.response)
		}
		if cap(o.sub) > 2*maxSub {
			t.Errorf("%s: buffer of %d bytes", test.name, cap(o.sub))
		}
	}
}

// TestOptionStorm checks that the number of responses is limited, and that data
// is still returned after the limit.
func TestOptionStorm(t *testing.T) {
	for name, in := range map[string]string{
		"DO for an unsupported option":         "\xff\xfd\x05x",
		"WILL and WONT for a supported option": "\xff\xfb\x01\xff\xfc\x01x",
		"terminal type requests":               "\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0x",
		"DO and WILL for many options":         "\xff\xfd\x01\xff\xfd\x02\xff\xfd\x04\xff\xfb\x06x",
		"WONT and DONT":                        "\xff\xfc\x01\xff\xfe\x01x",
		"subnegotiations":                      "\xff\xfa\x01" + strings.Repeat("s", 2000) + "\xff\xf0x",
		"unknown commands":                     "\xff\xa0x",
	} {
		o := testOptions()
		text, _, response := o.run(strings.Repeat(in, 2_000))
		if len(text) != 2_000 || len(response) > maxResponses*len("\xff\xfa\x18\x00XTERM\xff\xf0") {
			t.Errorf("%s: got %d bytes of data and %d bytes of responses", name, len(text), len(response))
		}
	}
}

func TestWindow(t *testing.T) {
	o := testOptions()
	o.resize(80, 24)
	if _, _, response := o.run("\xff\xfd\x1f"); response != "\xff\xfb\x1f\xff\xfa\x1f\x00\x50\x00\x18\xff\xf0" {
		t.Errorf("enabled: got %q", response)
	}
	if _, _, response := o.run("\xff\xfd\x1f"); response != "" {
		t.Errorf("enabled twice: got %q", response)
	}
	o.resize(255, 0xff00)
	if _, _, response := o.run(""); response != "\xff\xfa\x1f\x00\xff\xff\xff\xff\x00\xff\xf0" {
		t.Errorf("resized: got %q", response)
	}
	if _, _, response := o.run("\xff\xfe\x1f"); response != "\xff\xfc\x1f" {
		t.Errorf("disabled: got %q", response)
	}
	if o.resize(1, 1); len(o.out) > 0 {
		t.Errorf("resized while disabled: got %q", o.out)
	}
}

func TestRecords(t *testing.T) {
	h := newHost(nil)
	text, records, response := h.options.run("\xff\xfd\x19\xff\xfb\x19\xff\xfd\x00\xff\xfb\x00\xff\xfd\x28ab\xff\xffc\xff\xefd\xff\xef")
	if text != "ab\xffcd" || records != 2 || response != "\xff\xfb\x19\xff\xfd\x19\xff\xfb\x00\xff\xfd\x00\xff\xfc\x28" {
		t.Errorf("got %q, %d records, %q", text, records, response)
	}
}

// FuzzTelnetStream checks that the data do not depend on the size of reads,
// that the number of responses is limited, and that each response is a valid
// command.
func FuzzTelnetStream(f *testing.F) {
	for _, s := range []string{"\xff\xfb\x25\xff\xfb\x26\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23", "\xff\xfa\x18\x01\xff\xf0", "a\r\x00\xff\xff\r\n",
		"\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0\xff\xfb\x03\xff\xfd\x1f\xff\xfd\x00\xff\xef", "\xff\xfa\xff\xff\xff\xfd\x00\xff"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		single := &optionConn{Conn: &wire{in: bytes.Clone(in), step: len(in) + 1}, options: testOptions()}
		parts := &optionConn{Conn: &wire{in: bytes.Clone(in), step: int(step)%8 + 1}, options: testOptions()}
		single.options.resize(80, 24)
		parts.options.resize(80, 24)
		a, b := drain(t, single, len(in)), drain(t, parts, len(in))
		if !bytes.Equal(a, b) {
			t.Fatalf("%q: got %q in one read, %q in several", in, a, b)
		}
		for rest := a; len(rest) > 0; rest = rest[1:] {
			if rest[0] == iac {
				if len(rest) < 2 || rest[1] != iac {
					t.Fatalf("%q: command in the data for the library: %q", in, a)
				}
				rest = rest[1:]
			}
		}
		response := single.Conn.(*wire).out
		if !bytes.Equal(response, parts.Conn.(*wire).out) || len(response) > maxResponses*16+64*len(in) {
			t.Fatalf("%q: got responses %q and %q", in, response, parts.Conn.(*wire).out)
		}
		var mirror options // supports no options, so any data in the response is an error
		if text, _, _ := mirror.run(string(response)); text != "" || mirror.state != inData {
			t.Fatalf("%q: response %q contains data %q", in, response, text)
		}
	})
}
