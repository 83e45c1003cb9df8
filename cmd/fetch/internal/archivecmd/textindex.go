package archivecmd

import (
	"context"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/warc/textindex"
)

// indexTexts writes the text index of each archive.
func (c *indexCommand) indexTexts(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := c.indexTextsOf(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *indexCommand) indexTextsOf(ctx context.Context, name string) error {
	a, err := clientflags.OpenArchives(c.Streams, ctx, name)
	if err != nil {
		return err
	}
	defer a.Close()
	path := textindex.PathOf(name)
	s, err := textindex.Build(ctx, path, a, console.SchemeByName())
	if err != nil {
		return err
	}
	if s.Replaced != nil {
		c.Note("%v; a new index replaces it", s.Replaced)
	}
	if s.Damaged > 0 {
		c.Note("%d captures cannot be read", s.Damaged)
	}
	c.Note("%s: %d texts added, %d kept, %d removed, %s", path, s.Added, s.Kept, s.Removed, render.FormatSize(s.Bytes))
	return nil
}
