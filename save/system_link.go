//go:build !linux

package save

const renamesNew = false

func (system) RenameNew(from, to string) error { return linkNew(from, to) }
