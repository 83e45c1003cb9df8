package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
)

// redo gives the files their names which an earlier process had completed when it
// was killed. Whatever else it left is of no use.
func (m *mirror) redo(ctx context.Context) error {
	some := false
	for f, err := range m.store.Left() {
		if err != nil {
			return err
		}
		c, err := m.completed(ctx, f)
		switch {
		case err != nil:
			f.Close()
		case c != nil:
			some = true
			err = f.Commit(c.Path, c.Modified)
		default:
			err = f.Discard()
		}
		if err != nil {
			return err
		}
	}
	if !some {
		return nil
	}
	return m.store.SyncFolders()
}

// completed finds the capture that f is, if the database says that it is the
// newest of its URL.
func (a *archive) completed(ctx context.Context, f *tree.File) (*frontier.Capture, error) {
	var key frontier.Key
	if b, err := hex.DecodeString(f.Label()); copy(key[:], b) != len(key) || err != nil {
		return nil, nil
	}
	found, err := a.front.Brought(ctx, []frontier.Key{key})
	c, ok := found[key]
	if !ok || c.Path == "" || c.Size != f.Size() || err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil || [sha256.Size]byte(sum.Sum(nil)) != c.Digest {
		return nil, err
	}
	return &c, nil
}
