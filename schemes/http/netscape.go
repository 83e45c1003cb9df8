package http

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
)

// maxCookieLine is more than the line of a cookie can need.
const maxCookieLine = 16 << 10

// The fields of a line of a cookie file.
const (
	lineDomain     = iota
	lineSubdomains // names below the domain too
	linePath
	lineSecure
	lineExpires // seconds since 1970; 0: at the end of the session
	lineName
	lineValue
	lineFields
)

const httpOnlyMark = "#HttpOnly_"

// Read adds the cookies of a file in the format of Netscape, which browsers
// and curl write: seven fields a line, with tabs between them. Lines that hold
// none are passed over; the error is that of r.
func (j *Jar) Read(r io.Reader, now time.Time) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxCookieLine)
	j.mu.Lock()
	defer j.mu.Unlock()
	for lines.Scan() {
		if c, ok := parseCookieLine(lines.Text()); ok {
			j.put(c, now)
		}
	}
	if err := lines.Err(); err != nil {
		return fetch.Local.Errorf("cookie file: %w", err)
	}
	return nil
}

func parseCookieLine(line string) (*cookie, bool) {
	line, httpOnly := strings.CutPrefix(strings.TrimRight(line, "\r\n"), httpOnlyMark)
	part := strings.Split(line, "\t")
	if len(part) == lineFields-1 {
		part = append(part, "") // an empty value, its tab lost
	}
	if strings.HasPrefix(line, "#") || len(part) != lineFields || part[lineName] == "" || len(part[lineName])+len(part[lineValue]) > maxCookie {
		return nil, false
	}
	for _, p := range part {
		if http1.HasControl(p) {
			return nil, false
		}
	}
	seconds, err := strconv.ParseInt(part[lineExpires], 10, 64)
	if err != nil || strings.ContainsAny(part[lineName], "=;") || strings.Contains(part[lineValue], ";") {
		return nil, false
	}
	c := &cookie{
		name:     part[lineName],
		value:    part[lineValue],
		domain:   strings.ToLower(strings.Trim(part[lineDomain], ".")),
		path:     part[linePath],
		hostOnly: !strings.EqualFold(part[lineSubdomains], "TRUE"),
		secure:   strings.EqualFold(part[lineSecure], "TRUE"),
		httpOnly: httpOnly,
	}
	if seconds != 0 {
		c.expires = time.Unix(max(min(seconds, 1<<40), 1), 0)
	}
	if !c.hostOnly && (isAddress(c.domain) || isPublicSuffix(c.domain)) {
		c.hostOnly = true
	}
	return c, c.domain != "" && strings.HasPrefix(c.path, "/") && c.allowed(cookieContext{secure: true})
}

// Write writes the cookies that have not expired as Read reads them.
func (j *Jar) Write(w io.Writer, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Netscape HTTP Cookie File\n\n")
	for _, c := range j.cookies {
		if !c.expired(now) && !strings.Contains(c.name+c.value+c.path, "\t") {
			fmt.Fprintln(b, c.line())
		}
	}
	return b.Flush()
}

func (c *cookie) line() string {
	flag := map[bool]string{false: "FALSE", true: "TRUE"}
	prefix, dot, seconds := "", "", int64(0)
	if c.httpOnly {
		prefix = httpOnlyMark
	}
	if !c.hostOnly {
		dot = "."
	}
	if !c.expires.IsZero() {
		seconds = c.expires.Unix()
	}
	return strings.Join([]string{
		prefix + dot + c.domain, flag[!c.hostOnly], c.path, flag[c.secure], strconv.FormatInt(seconds, 10), c.name, c.value,
	}, "\t")
}
