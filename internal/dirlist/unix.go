package dirlist

import (
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// parseUnix reads what "ls -l" writes, in its many forms: with and without
// group, with device numbers for a size, with permissions as NetWare has them.
// Only the date is alike everywhere; the size stands before it and the name
// behind it.
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
	fields := split(text)
	for i := 2; i < len(fields); i++ {
		d, n := parseDate(fields, i, at)
		if n == 0 || i+n > len(fields) {
			continue
		}
		size, before := sizeBefore(fields, i)
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
		r.note("clock", "server") // its zone is not known
		r.note("mode", fields[0].text)
		if netware && text[1] == ' ' {
			r.note("mode", fields[0].text+fields[1].text)
		}
		r.unixKind(text[0])
		return r, true
	}
	return row{}, false
}

// isMode reports whether s is nine letters of permissions. MacOS servers write
// "folder" and sizes of forks behind them, ACLs a "+" or ".".
func isMode(s string) bool {
	for i := range len(s) {
		if !strings.ContainsRune("-rwxsStTlL", rune(s[i])) {
			return false
		}
	}
	return true
}

func (r *row) unixKind(c byte) {
	switch c {
	case '-':
		r.Kind = fetch.Document
	case 'd':
		r.Kind = fetch.Menu
		r.Size = -1 // of the directory, not of what it lists
	case 'l':
		r.note("type", "symlink")
		r.cutTarget()
	default:
		r.note("type", string(c))
		r.Size = -1
	}
}

// cutTarget parts the name of a link from what it points to. Either may have
// an arrow in it: the size of the link is the length of its target.
func (r *row) cutTarget() {
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
	r.note("target", r.Name[i+len(arrow):])
	r.Name = r.Name[:i]
}

// sizeBefore reads the size before the date at fields[i], and returns how many
// fields it takes: two for the numbers of a device, none if there is no size.
func sizeBefore(fields []field, i int) (size int64, n int) {
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

// A field is a word of a line and where it ends.
type field struct {
	text string
	end  int
}

// maxFields is more than any line has before its name.
const maxFields = 16

// split finds the words at the beginning of a line.
func split(text string) []field {
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
