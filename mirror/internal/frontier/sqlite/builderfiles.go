package sqlite

import (
	"context"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A FoundFile describes a file in the tree that contains the newest capture of
// a URL.
type FoundFile struct {
	Key    frontier.Key
	Path   string
	Size   int64
	Digest [32]byte
	Names  []frontier.Name // paths to reserve for Path
}

// SetFiles sets the paths and the digests of the newest captures of URLs. If a
// path belongs to another URL, SetFiles ignores the file.
func (b *Builder) SetFiles(ctx context.Context, files []FoundFile) error {
	return b.write(ctx, func(t *tx) error {
		for _, f := range files {
			c := frontier.Capture{Path: f.Path}
			if err := t.claimFree(&c, f.Names); err != nil {
				return err
			}
			if c.Path == "" {
				continue
			}
			err := t.Exec(`update capture set path=?, size=?, digest=?, sum=iif(sum is null, null, ?)
				where id=(select last from url where key=?)`, f.Path, f.Size, f.Digest[:], sumOf(f.Digest), f.Key[:])
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ReserveNames reserves names for the URLs that own them. The names must be
// free or already belong to the same URLs.
func (b *Builder) ReserveNames(ctx context.Context, names []frontier.Name) error {
	return b.write(ctx, func(t *tx) error { return t.claimNames(names) })
}
