package mail

import (
	"bytes"
	"testing"
)

// FuzzListLine checks that a repaired line is one line, that repairing is
// idempotent, and that lines other than LIST responses stay unchanged.
func FuzzListLine(f *testing.F) {
	for _, s := range []string{`* LIST () "/" R&D`, `* LIST () "" &AOk-&AOk-`, "* LIST () NIL {3}", "* list () \"/\" \xff\x00&", "* 3 EXISTS & more", "* LIST () NIL &2D3eAA-&-&", `* LIST () "" a) "" b`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = append(bytes.ReplaceAll(line, []byte("\n"), nil), "\r\n"...)
		once := repairLine(line)
		if bytes.Count(once, []byte("\n")) != 1 || !bytes.HasSuffix(once, []byte("\r\n")) {
			t.Fatalf("%q is repaired to %q", line, once)
		}
		if second := repairLine(once); !bytes.Equal(second, once) {
			t.Fatalf("%q is repaired to %q, and again to %q", line, once, second)
		}
		if !bytes.HasPrefix(bytes.ToUpper(line), []byte("* LIST (")) && !bytes.Equal(once, line) {
			t.Fatalf("%q is repaired to %q", line, once)
		}
		// The result must not depend on the split into pieces.
		l := listRepairer{active: true}
		pieces := append(bytes.Clone(l.repair(line[:len(line)/2])), l.repair(line[len(line)/2:])...)
		if !bytes.Equal(pieces, once) || len(l.partialLine) != 0 {
			t.Fatalf("%q is repaired to %q in pieces, not %q", line, pieces, once)
		}
	})
}
