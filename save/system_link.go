//go:build !linux

package save

func (system) RenameNew(from, to string) error { return linkNew(from, to) }
