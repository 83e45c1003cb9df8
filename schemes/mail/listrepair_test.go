package mail

import (
	"bytes"
	"testing"
)

// FuzzListLine: a repaired line is one line, repairing it again changes
// nothing, and a line that is no answer to LIST stays as it is.
func FuzzListLine(f *testing.F) {
	for _, s := range []string{`* LIST () "/" R&D`, `* LIST () "" &AOk-&AOk-`, "* LIST () NIL {3}", "* list () \"/\" \xff\x00&", "* 3 EXISTS & more", "* LIST () NIL &2D3eAA-&-&"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = append(bytes.ReplaceAll(line, []byte("\n"), nil), "\r\n"...)
		once := repairLine(line)
		if bytes.Count(once, []byte("\n")) != 1 || !bytes.HasSuffix(once, []byte("\r\n")) {
			t.Fatalf("%q becomes %q", line, once)
		}
		if again := repairLine(once); !bytes.Equal(again, once) {
			t.Fatalf("%q becomes %q, and that %q", line, once, again)
		}
		if !bytes.HasPrefix(bytes.ToUpper(line), []byte("* LIST (")) && !bytes.Equal(once, line) {
			t.Fatalf("%q becomes %q", line, once)
		}
		// In pieces as in one, and nothing is left once LIST is over.
		l := listRepairer{active: true}
		pieces := append(bytes.Clone(l.repair(line[:len(line)/2])), l.repair(line[len(line)/2:])...)
		if !bytes.Equal(pieces, once) || len(l.partialLine) != 0 {
			t.Fatalf("%q becomes %q in pieces, not %q", line, pieces, once)
		}
	})
}
