//go:build !linux

package postgres

import "syscall"

// limitLoss does nothing: the keepalive messages find lost connections.
func limitLoss(string, string, syscall.RawConn) error { return nil }
