package transcript

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

const recording = `# A server, by hand. C>S is client to server.

# == one
# C>S hello (again) (18 bytes)
000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef
000010  0d 0a                                            ..

# (idle)
# S>C (1 bytes)
000000  ff                                               .
# == two
# S>C
`

func TestRecording(t *testing.T) {
	files := fstest.MapFS{"r/a.hex": {Data: []byte(recording)}, "r/b.txt": {}}
	if got := fmt.Sprint(Recordings(t, files, "r")); got != "[r/a.hex]" {
		t.Errorf("recordings %s", got)
	}
	want := []Message{{"one", "hello", true, []byte("0123456789abcdef\r\n")}, {"one", "", false, []byte("\xff")}, {Section: "two"}}
	if got := ReadRecording(t, files, "r/a.hex"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestRecordingMistakes(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"byte that is missing", " 66  0123456789abcdef", "  0123456789abcde", "follows 15 bytes"},
		{"byte that is no hex", "30 31", "3x 31", "has no bytes"},
		{"offset", "000010", "000020", "follows 16 bytes"},
		{"line that is missing", "000010  0d 0a                                            ..\n", "", `message "hello" has 16 bytes, want 18`},
		{"length of the last message", "# S>C\n", "# S>C (3 bytes)\n", "has 0 bytes, want 3"},
		{"bytes of no message", "# C>S hello", "# hello", "has no bytes"},
		{"other marks", "C>S hello", "> hello", "has no bytes"},
	} {
		if _, err := parseRecording(strings.Replace(recording, test.old, test.new, 1)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	if _, err := parseRecording("# nothing\n"); err == nil {
		t.Error("a recording without messages is not an error")
	}
}

// FuzzRecording parses any text without a panic, into no more bytes than it has.
func FuzzRecording(f *testing.F) {
	f.Add(recording)
	f.Add("# S>C x\n000000  0")
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := parseRecording(text)
		n := 0
		for _, m := range all {
			n += len(m.Bytes)
		}
		if n > len(text) {
			t.Errorf("%d bytes of %d", n, len(text))
		}
	})
}
