package localfile

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// dosPath joins path segments to a Windows path (RFC 8089 appendix E.2). It
// rejects names that Windows would interpret as network shares, streams or
// devices, and names that Windows would change.
func dosPath(names []string) (string, error) {
	if len(names) == 0 || !isDrive(names[0]) {
		return "", fetch.BadURL.Errorf("no drive letter: a Windows file URL begins with file:///C:/")
	}
	for _, name := range names[1:] {
		if !isDOSName(name) {
			return "", refusal("file name is not valid on Windows", name)
		}
	}
	return names[0] + `\` + strings.Join(names[1:], `\`), nil
}

func isDrive(name string) bool {
	return len(name) == 2 && name[1] == ':' && 'a' <= name[0]|0x20 && name[0]|0x20 <= 'z'
}

// dosDevices are the device names that Windows reserves in every directory,
// with any extension. The ports COM and LPT are reserved with a digit,
// including superscript digits.
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
