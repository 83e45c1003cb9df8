package dirlist

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// parseUnix parses the output of "ls -l" in its many variants. The group may be
// missing, the size may be two device numbers, and the permissions may be in
// the format of NetWare. Only the date has a fixed position, after the size and
// before the name.
//
//	drwxr-xr-x   2 ftp      ftp          4096 Jan  1 12:00 pub
//	-rw-r--r--   1 2015  1000   1388 1 Feb 2004 README
//	d [R----F--] supervisor            512       Jan 16 18:53    login
func parseUnix(text string, at time.Time) (row, bool) {
	if len(text) < 11 || !strings.ContainsRune("-dlbcpsD", rune(text[0])) {
		return row{}, false
	}
	netware := strings.HasPrefix(text[1:], " [") || text[1] == '['
	if !netware && !isMode(text[1:10]) {
		return row{}, false
	}
	fields := splitFields(text)
	for i := 2; i < len(fields); i++ {
		d, n := parseDate(fields, i, at)
		if n == 0 || i+n > len(fields) {
			continue
		}
		size, before := parseSizeBefore(fields, i)
		if before == 0 {
			continue
		}
		name := text[fields[i+n-1].end:]
		if netware {
			name = strings.TrimLeft(name, " ")
		} else {
			name = strings.TrimPrefix(name, " ")
		}
		if name == "" {
			return row{}, false
		}
		r := row{Entry: fetch.Entry{Name: name, Size: size, Time: d}}
		r.addExtra("clock", "server") // the time zone is unknown
		r.addExtra("mode", fields[0].text)
		if netware && text[1] == ' ' {
			r.addExtra("mode", fields[0].text+fields[1].text)
		}
		r.setUnixKind(text[0])
		return r, true
	}
	return row{}, false
}

// isMode reports whether s consists of permission letters, such as "rwxr-xr-x".
// In a listing, they may be followed by an ACL mark such as "+" or ".", or by
// the text that MacOS servers append.
func isMode(s string) bool {
	for i := range len(s) {
		if !strings.ContainsRune("-rwxsStTlL", rune(s[i])) {
			return false
		}
	}
	return true
}

func (r *row) setUnixKind(c byte) {
	switch c {
	case '-':
		r.Kind = fetch.Document
	case 'd':
		r.Kind = fetch.Menu
		r.Size = -1 // the size of a directory is not useful
	case 'l':
		r.addExtra("type", "symlink")
		r.splitTarget()
	default:
		r.addExtra("type", string(c))
		r.Size = -1
	}
}

// splitTarget splits the text "name -> target" of a symbolic link. Both parts
// may contain an arrow. The size of a symbolic link is the length of its
// target, so the size determines which arrow separates the parts.
func (r *row) splitTarget() {
	const arrow = " -> "
	length := r.Size
	r.Size = -1
	i := strings.Index(r.Name, arrow)
	if i < 0 {
		return
	}
	if j := len(r.Name) - int(min(length, int64(len(r.Name)))) - len(arrow); j > i && strings.HasPrefix(r.Name[j:], arrow) {
		i = j
	}
	r.addExtra("target", r.Name[i+len(arrow):])
	r.Name = r.Name[:i]
}

// parseSizeBefore parses the size in the fields before the date at the position
// i. It returns the number of fields, which is 2 for device numbers and 0 if
// there is no size.
func parseSizeBefore(fields []field, i int) (size int64, n int) {
	text := fields[i-1].text
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size < 0 {
		return 0, 0
	}
	if i >= 2 && strings.HasSuffix(fields[i-2].text, ",") {
		return -1, 2
	}
	return size, 1
}

// A field is a word of a line and the position of its end.
type field struct {
	text string
	end  int // index of the byte after text in the line
}

// maxFields is the maximum number of fields that splitFields returns. No
// listing format has more fields before the file name.
const maxFields = 16

// splitFields splits a line at spaces and returns its first maxFields fields.
func splitFields(text string) []field {
	var fields []field
	for i := 0; i < len(text) && len(fields) < maxFields; {
		for i < len(text) && text[i] == ' ' {
			i++
		}
		start := i
		for i < len(text) && text[i] != ' ' {
			i++
		}
		if i > start {
			fields = append(fields, field{text[start:i], i})
		}
	}
	return fields
}
