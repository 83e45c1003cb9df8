package dirlist

import "strings"

// isHeading reports whether a line of LIST describes the listing instead of an
// entry. No dialect has entries in one of these formats:
//
//	total 4                               ls -l
//	Directory DISK$USER:[ANONYMOUS]       VMS
//	Total of 7 files, 23 blocks.          VMS
//	Grand total of 2 directories, ...     VMS
//	 Volume in drive C is SYSTEM          DOS
//	 Directory of C:\PUB                  DOS
//	        5 File(s)      1,024 bytes    DOS
//	        2 Dir(s)  12,345 bytes free   DOS
//
// Blank lines count as headings too.
func isHeading(text string) bool {
	words := strings.Fields(strings.ToLower(text[:min(len(text), maxHeading)]))
	switch {
	case len(words) == 0:
		return len(text) <= maxHeading
	case len(words) == 1:
		return false
	}
	switch first, second := words[0], words[1]; first {
	case "total":
		return len(words) == 2 && isAmount(second) || second == "of" && len(words) > 3 && isAmount(words[2])
	case "grand":
		return second == "total" && len(words) > 2 && words[2] == "of"
	case "directory":
		return second == "of" || len(words) == 2 && strings.Contains(second, ":[") && strings.HasSuffix(second, "]")
	case "volume":
		return second == "in" || second == "serial"
	default:
		return (second == "file(s)" || second == "dir(s)") && isAmount(first)
	}
}

// maxHeading is the number of bytes of a line that isHeading examines.
const maxHeading = 200

// isAmount reports whether s is a number in the format of ls or dir, such as
// "4", "1.5M" or "12,345".
func isAmount(s string) bool {
	return s[0] >= '0' && s[0] <= '9' && strings.Trim(strings.TrimRight(s, "kmgtp"), "0123456789.,") == ""
}
