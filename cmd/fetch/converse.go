package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// conversing has -v hear the sessions of s.
func (a *app) conversing(s fetch.Scheme) fetch.Scheme {
	open := s.Open
	s.Open = func(env fetch.Env) fetch.Driver {
		d := open(env)
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			var t fetch.Trace
			if req.Trace != nil {
				t = *req.Trace
			}
			t.Sent, t.Received = a.said("> ", t.Sent), a.said("< ", t.Received)
			req = req.Clone()
			req.Trace = &t
			return d.Do(ctx, req)
		})
	}
	return s
}

// said writes lines of a conversation, and then tells next, which may be nil.
func (a *app) said(who string, next func([]byte)) func([]byte) {
	return func(p []byte) {
		var all strings.Builder // in one write: others may say something too
		for line := range bytes.Lines(p) {
			all.WriteString(who + plain(string(bytes.TrimRight(line, "\r\n"))) + "\n")
		}
		a.stderr.Write([]byte(all.String()))
		if next != nil {
			next(p)
		}
	}
}
