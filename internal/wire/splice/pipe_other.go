//go:build !linux

package splice

import (
	"errors"
	"net"
	"os"
)

// A Pipe is never used on this system, because the system has no splice.
type Pipe struct{ size int }

func newPipe() *Pipe { return nil }

func (p *Pipe) close() {}

// CanFill returns false, because this system has no splice.
func CanFill(net.Conn) bool { return false }

// Fill returns an error, because this system has no splice.
func (p *Pipe) Fill(net.Conn, int) (int, error) { return 0, errors.ErrUnsupported }

// Drain returns an error, because this system has no splice.
func (p *Pipe) Drain(*os.File, int) (int, error) { return 0, errors.ErrUnsupported }
