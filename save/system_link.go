//go:build !linux

package save

import "errors"

const hasRenameNew = false

func (system) RenameNew(from, to string) error { return linkNew(from, to) }

func (system) createUnnamed() (unnamedHandle, error) { return nil, errors.ErrUnsupported }
