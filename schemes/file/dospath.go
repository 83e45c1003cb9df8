package file

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// dosPath writes names as a path of Windows (RFC 8089 E.2). Whatever the
// system would read as more than a drive and names is refused: shares,
// streams, devices, and names that it would change.
func dosPath(names []string) (string, error) {
	if len(names) == 0 || !isDrive(names[0]) {
		return "", fetch.BadURL.Errorf("no drive: a file URL of Windows begins with file:///C:/")
	}
	for _, name := range names[1:] {
		if !isDOSName(name) {
			return "", refused("not a plain file name on Windows", name)
		}
	}
	return names[0] + `\` + strings.Join(names[1:], `\`), nil
}

func isDrive(name string) bool {
	return len(name) == 2 && name[1] == ':' && 'a' <= name[0]|0x20 && name[0]|0x20 <= 'z'
}

// dosDevices are found in every directory, with any extension, and with the
// digits of COM and LPT in superscript too.
var dosDevices = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}

func isDOSName(name string) bool {
	if strings.ContainsAny(name, `\:*?"<>|`) || strings.IndexFunc(name, func(r rune) bool { return r < ' ' }) >= 0 {
		return false
	}
	if strings.TrimRight(name, ". ") != name {
		return false
	}
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	for _, numbered := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(stem, numbered); ok && strings.Contains("0123456789¹²³", n) && n != "" {
			return false
		}
	}
	return !slices.Contains(dosDevices, stem)
}
