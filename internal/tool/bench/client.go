package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

// get requests a path and returns the body of the response, which is valid until
// the next call, and the time to the first byte.
func (c *client) get(path string) (body []byte, first time.Duration, err error) {
	began := time.Now()
	if err = c.SetDeadline(began.Add(time.Minute)); err != nil {
		return nil, 0, err
	}
	if _, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, c.RemoteAddr()); err != nil {
		return nil, 0, err
	}
	if _, err = c.in.Peek(1); err != nil {
		return nil, 0, err
	}
	first = time.Since(began)
	length, chunked := int64(-1), false
	for status := true; ; status = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return nil, 0, err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		switch {
		case len(name) == 0 && chunked:
			body, err = c.readChunks()
			return body, first, err
		case len(name) == 0:
			if length < 0 {
				return nil, 0, fmt.Errorf("%s: the response has no length", path)
			}
			body, err = c.read(length)
			return body, first, err
		case status && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return nil, 0, fmt.Errorf("%s: %s", path, line)
		case string(name) == "Content-Length":
			if length, err = strconv.ParseInt(string(value), 10, 32); err != nil {
				return nil, 0, err
			}
		case string(name) == "Transfer-Encoding":
			chunked = true
		}
	}
}

// read reads a body of the given length.
func (c *client) read(length int64) ([]byte, error) {
	if int64(cap(c.body)) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err := io.ReadFull(c.in, c.body)
	return c.body, err
}

// readChunks reads a chunked body (RFC 9112 section 7.1).
func (c *client) readChunks() ([]byte, error) {
	c.body = c.body[:0]
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return nil, err
		}
		start := len(c.body)
		c.body = append(c.body, make([]byte, size+2)...) // chunk data and its line break
		if _, err := io.ReadFull(c.in, c.body[start:]); err != nil {
			return nil, err
		}
		c.body = c.body[:len(c.body)-2]
		if size == 0 {
			return c.body, nil
		}
	}
}
