package dirlist

import (
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// parseVMS parses the output of the VMS command DIRECTORY. A line contains the
// name with type and version, the used and allocated blocks, the date, the
// owner and the protection.
//
//	CORE.DIR;1          1  8-SEP-1996 16:09 [SYSTEM] (RWE,RWE,RE,RE)
//	CII-MANUAL.TEX;1  213/216  29-JAN-1996 03:33:12  [ANONYMOUS,ANONYMOUS]   (RWED,RWED,,)
//
// The number of blocks of 512 bytes is stored in Extra, because the size in
// bytes is unknown.
func parseVMS(text string) (row, bool) {
	fields := splitFields(text)
	if len(fields) < 3 || !isVMSName(fields[0].text) {
		return row{}, false
	}
	name, version, _ := strings.Cut(fields[0].text, ";")
	r := row{Entry: fetch.Entry{Name: name, Size: -1, Kind: fetch.Document}, link: fields[0].text}
	for i, f := range fields[1:] {
		day := strings.Split(f.text, "-")
		if len(day) != 3 {
			continue
		}
		d, m, y := parseNumber(day[0], 31), monthOf(day[1]), parseNumber(day[2], 9999)
		t, ok := newDate(y, m, d, 0, 0)
		if d < 1 || m == 0 || y < 1900 || !ok {
			continue
		}
		if i+2 < len(fields) {
			if h, m, ok := parseClock(fields[i+2].text); ok {
				t = t.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)
			}
		}
		r.Time = t
		r.addExtra("clock", "server")
		r.addExtra("version", version)
		if i > 0 {
			r.addExtra("blocks", fields[1].text)
		}
		r.setVMSKind()
		return r, true
	}
	return row{}, false
}

func (r *row) setVMSKind() {
	if n := len(r.Name) - len(".DIR"); n > 0 && strings.EqualFold(r.Name[n:], ".DIR") {
		r.Kind = fetch.Menu
		r.Name = r.Name[:n]
		r.link = r.Name
	}
}

// isVMSName reports whether s is a VMS file name with a version, such as
// "CORE.DIR;1".
func isVMSName(s string) bool {
	name, version, ok := strings.Cut(strings.TrimRight(s, " "), ";")
	return ok && name != "" && !strings.ContainsAny(name, " \t") && parseNumber(version, 32767) > 0
}
