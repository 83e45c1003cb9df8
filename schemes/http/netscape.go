package http

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// maxCookieLine is the maximum length in bytes of a line in a cookie file.
const maxCookieLine = 16 << 10

// These constants are the indexes of the fields in a line of a cookie file.
const (
	lineDomain     = iota
	lineSubdomains // TRUE if the cookie is sent to subdomains
	linePath
	lineSecure
	lineExpires // seconds since 1970, or 0 for a session cookie
	lineName
	lineValue
	lineFields
)

const httpOnlyMark = "#HttpOnly_"

// maxStored is the maximum number of cookies in a Jar after Read.
const maxStored = 20_000

// Read adds the cookies from a Netscape cookie file, the format used by curl
// and browsers. Each line has seven fields that are separated by tabs. A line
// can also be a Set-Cookie header field with a Domain attribute. Read skips
// other lines. If a line is too long, if there are more than 20,000 cookies, or
// if reading r fails, Read returns an error and the Jar is unchanged.
func (j *Jar) Read(r io.Reader, now time.Time) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxCookieLine)
	j.mu.Lock()
	defer j.mu.Unlock()
	all := map[cookieKey]*cookie{}
	for _, c := range j.cookies {
		all[c.key()] = c
	}
	count := j.count
	number := 0
	for ; lines.Scan(); number++ {
		c, ok := j.parseCookieField(lines.Text(), now)
		if c == nil {
			c, ok = j.parseCookieLine(lines.Text())
		}
		if !ok {
			continue
		}
		count++
		c.created, c.stored = count, true
		if older := all[c.key()]; older != nil {
			c.created = older.created
		}
		if delete(all, c.key()); !c.expired(now) {
			all[c.key()] = c
		}
		if len(all) > maxStored {
			return fetch.Local.Errorf("more than %d cookies", maxStored)
		}
	}
	if err := lines.Err(); err != nil {
		return fetch.Local.Errorf("line %d: %w", number+1, err)
	}
	j.count = count
	j.cookies = slices.SortedFunc(maps.Values(all), func(a, b *cookie) int { return a.created - b.created })
	return nil
}

// parseCookieField parses a line with a Set-Cookie header field. As in curl, a
// cookie without a Domain attribute is not sent to any server, so it is ignored.
func (j *Jar) parseCookieField(line string, now time.Time) (*cookie, bool) {
	name, field, ok := strings.Cut(line, ":")
	if !ok || !strings.EqualFold(name, "Set-Cookie") {
		return nil, false
	}
	p := cookieContext{path: "/", secure: true}
	for item := range strings.SplitSeq(field, ";") {
		key, value, _ := strings.Cut(item, "=")
		if strings.EqualFold(strings.Trim(key, " \t"), "domain") {
			p.host = strings.Trim(strings.ToLower(value), ". \t\r")
		}
	}
	c, ok := j.parseCookie(strings.TrimRight(field, "\r"), p, now)
	return c, ok && p.host != ""
}

func (j *Jar) parseCookieLine(line string) (*cookie, bool) {
	line, httpOnly := strings.CutPrefix(strings.TrimRight(line, "\r\n"), httpOnlyMark)
	part := strings.Split(line, "\t")
	if len(part) == lineFields-1 {
		part = append(part, "") // some programs omit the tab before an empty value
	}
	if strings.HasPrefix(line, "#") || len(part) != lineFields || part[lineName] == "" ||
		len(part[lineName])+len(part[lineValue]) > maxCookie {
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
	if !c.hostOnly && (isAddress(c.domain) || j.isPublicSuffix(c.domain)) {
		c.hostOnly = true
	}
	return c, c.domain != "" && strings.HasPrefix(c.path, "/") && c.allowed(cookieContext{secure: true})
}

// Write writes the cookies that have not expired to a Netscape cookie file. It
// returns an error if there are more than Read accepts.
func (j *Jar) Write(w io.Writer, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Netscape HTTP Cookie File\n\n")
	written := 0
	for _, c := range j.cookies {
		if c.expired(now) || strings.Contains(c.name+c.value+c.path, "\t") {
			continue
		}
		if written++; written > maxStored {
			return fetch.Local.Errorf("more than %d cookies", maxStored)
		}
		fmt.Fprintln(b, c.line())
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
