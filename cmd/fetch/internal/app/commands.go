package app

import (
	"bytes"
	"io"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/archivecmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/frontiercmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/helpcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/importcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/mirrorcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/recordcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/screenshotcmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/servecmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/treecmd"
	"github.com/anyurl/fetch/cmd/fetch/internal/uricmd"
)

// Commands returns the main command with all subcommands. Their flags are
// not registered yet.
func Commands(s *console.Streams) *command.Tree {
	t := command.NewTree(s)
	t.SetMain(objectcmd.New(t), helpcmd.NewHelp(t),
		objectcmd.NewLs(t), objectcmd.NewBrowse(t), objectcmd.NewInfo(t), objectcmd.NewPlan(t), objectcmd.NewSearch(t),
		treecmd.NewFind(t), treecmd.NewDu(t), treecmd.NewDiff(t),
		mirrorcmd.New(t), archivecmd.NewVerify(t), archivecmd.NewRecover(t), archivecmd.NewIndex(t), archivecmd.NewPack(t), archivecmd.NewExport(t),
		recordcmd.New(t), importcmd.New(t), servecmd.New(t), screenshotcmd.New(t), frontiercmd.New(t), uricmd.New(t), helpcmd.NewMan(t), helpcmd.NewCompletion(t))
	t.List = func(args []string) string {
		var out limitedBuffer
		Run(args, strings.NewReader(""), &out, io.Discard)
		return out.String()
	}
	return t
}

// maxListing limits the output of a command that runs for a completion.
const maxListing = 1 << 20

// A limitedBuffer keeps the first maxListing bytes.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxListing {
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}
