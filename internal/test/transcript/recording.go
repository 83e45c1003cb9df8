package transcript

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A Message holds bytes that one side of a recorded conversation sent together.
type Message struct {
	Section string // section of the recording; see ReadRecording
	Title   string // text after "# C>S" or "# S>C", without a remark in parentheses
	Client  bool
	Bytes   []byte
}

// ReadRecording reads a recording. The line "# C>S TITLE" begins a message of
// the client, and "# S>C TITLE" a message of the server. Each following line
// contains an offset, and bytes in hexadecimal and as characters. The line
// "# == SECTION" begins a section. Other comments are ignored.
func ReadRecording(t testing.TB, files fs.FS, name string) []Message {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseRecording(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

// Recordings returns the paths of the recordings (*.hex) in a folder.
func Recordings(t testing.TB, files fs.FS, folder string) []string {
	t.Helper()
	all, err := fs.Glob(files, folder+"/*.hex")
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has no recordings: %v", folder, err)
	}
	return all
}

var (
	markLine  = regexp.MustCompile(`^# (C>S|S>C)(?: ([^(]*))?(?: ?\(.*)?$`)
	bytesLine = regexp.MustCompile(`^([0-9a-f]{6})  ((?:[0-9a-f]{2} ?){1,16})(?: .*)?$`)
	sizeMark  = regexp.MustCompile(`\((\d+) bytes\)$`)
)

func parseRecording(text string) (all []Message, err error) {
	section, size := "", -1
	// check compares the length of the last message with the length in its
	// title line.
	check := func() error {
		if n := len(all) - 1; n >= 0 && size >= 0 && len(all[n].Bytes) != size {
			return fmt.Errorf("message %q has %d bytes, want %d", all[n].Title, len(all[n].Bytes), size)
		}
		return nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		if name, ok := strings.CutPrefix(l, "# == "); ok {
			section = name
		} else if m := markLine.FindStringSubmatch(l); m != nil {
			if err := check(); err != nil {
				return nil, err
			}
			all, size = append(all, Message{section, strings.TrimSpace(m[2]), m[1] == "C>S", nil}), -1
			if m := sizeMark.FindStringSubmatch(l); m != nil {
				size, _ = strconv.Atoi(m[1])
			}
		} else if l != "" && l[0] != '#' {
			if err := appendBytes(all, l); err != nil {
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no message")
	}
	return all, check()
}

// appendBytes adds the bytes of a line to the last message.
func appendBytes(all []Message, line string) error {
	m := bytesLine.FindStringSubmatch(line)
	if m == nil || len(all) == 0 {
		return fmt.Errorf("line %q has no bytes of a message", line)
	}
	last := &all[len(all)-1]
	if at, err := strconv.ParseInt(m[1], 16, 32); err != nil || int(at) != len(last.Bytes) {
		return fmt.Errorf("line %q follows %d bytes", line, len(last.Bytes))
	}
	b, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
	last.Bytes = append(last.Bytes, b...)
	return err
}
