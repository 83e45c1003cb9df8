//go:build !linux

package save

const hasRenameNew = false

func (system) RenameNew(from, to string) error { return linkNew(from, to) }
