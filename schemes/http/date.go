package http

import (
	"net/http"
	"strings"
	"time"
)

// parseTime parses an HTTP date in one of the three formats of RFC 9110 5.6.7.
// It is faster than http.ParseTime for the preferred format.
func parseTime(s string) (time.Time, error) {
	if t, ok := fixdate(s); ok {
		return t, nil
	}
	return http.ParseTime(s)
}

// fixdate parses a date in the preferred format, such as "Sun, 06 Nov 1994
// 08:49:37 GMT".
func fixdate(s string) (t time.Time, ok bool) {
	if len(s) != len(http.TimeFormat) || s[3:5] != ", " || s[7] != ' ' || s[11] != ' ' || s[16] != ' ' ||
		s[19] != ':' || s[22] != ':' || s[25:] != " GMT" {
		return t, false
	}
	weekday := strings.Index("SunMonTueWedThuFriSat", s[:3])
	month := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", s[8:11])
	day, century, year := twoDigits(s[5:]), twoDigits(s[12:]), twoDigits(s[14:])
	hour, minute, second := twoDigits(s[17:]), twoDigits(s[20:]), twoDigits(s[23:])
	if weekday%3 != 0 || month%3 != 0 || min(day, century, year, hour, minute, second) < 0 ||
		hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	t = time.Date(century*100+year, time.Month(month/3+1), day, hour, minute, second, 0, time.UTC)
	return t, t.Day() == day
}

// twoDigits parses the first two bytes of s as a decimal number. It returns -1
// if one of them is not a digit.
func twoDigits(s string) int {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return -1
	}
	return int(s[0]-'0')*10 + int(s[1]-'0')
}
