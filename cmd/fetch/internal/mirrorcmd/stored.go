package mirrorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/pflag"
)

// storedSeeds reads options.json of the archive in --output-dir and returns its
// seeds. It sets the flags that the command line does not contain to the stored
// values.
func (c *mirrorCommand) storedSeeds(ctx context.Context) ([]uri.URI, error) {
	o, err := mirror.Open(mirror.Location{Dir: c.outputDir}).Options(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fetch.Usage.Errorf("no URL, and %s has no options.json of an earlier run: name the URLs",
			filepath.Clean(c.outputDir))
	}
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, stored := range storedFlags(&o) {
		if stored.name == "store" && !c.isSet("store") { // the archive may come from a stranger
			return nil, fetch.Usage.Errorf("only options.json names the store %q: to use it, name it in the command (--store)", uri.Redact(o.Store.String()))
		}
		set, err := c.applyStored(stored)
		if err != nil {
			return nil, fetch.Local.Errorf("options.json: --%s: %w", stored.name, err)
		}
		if set {
			changed = append(changed, stored.String())
			c.storedWords = append(c.storedWords, stored.words()...)
		}
	}
	text := ""
	if len(changed) > 0 {
		text = " with " + flagList(changed)
	}
	c.Note("the seeds are those of options.json: %s%s", seedsText(o.Seeds), text)
	return o.Seeds, nil
}

// flagList returns flags as text. It shortens each flag to maxFlag bytes, so that
// the list of a stranger cannot hide a flag behind a long one.
func flagList(flags []string) string {
	short := slices.Clone(flags)
	for i, text := range short {
		if len(text) > maxFlag {
			short[i] = strings.ToValidUTF8(text[:maxFlag], "") + "..."
		}
	}
	return strings.Join(short, " ")
}

// quoteSpaces quotes text if it contains spaces.
func quoteSpaces(text string) string {
	if strings.ContainsAny(text, " \t") {
		return strconv.Quote(text)
	}
	return text
}

// maxFlag limits each flag in a note about stored settings, in bytes.
const maxFlag = 100

// A storedFlag is a flag with its value from the stored options of an archive.
// A flag that is a list has any number of values.
type storedFlag struct {
	name   string
	values []string

	// If explicit is true, the flag counts as set even if it has the default
	// value. Without the flag, the value depends on the server.
	explicit bool
}

// applyStored sets a flag, unless the command line or a configuration file
// contains it. It reports whether the flag is explicit or its value differs
// from the default.
func (c *mirrorCommand) applyStored(stored storedFlag) (changed bool, err error) {
	for _, section := range c.flags.Sections {
		f := section.Flags.Lookup(stored.name)
		if f == nil {
			continue
		}
		if f.Changed {
			return false, nil
		}
		before := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			err = list.Replace(stored.values)
		} else {
			err = f.Value.Set(stored.values[0])
		}
		f.Changed = stored.explicit || f.Value.String() != before
		return f.Changed, err
	}
	return false, nil
}

// storedFlags returns the flags that correspond to the options of an archive.
func storedFlags(o *mirror.Options) []storedFlag {
	s, l := &o.Scope, &o.Limits
	d := depth(s.Depth)
	all := []storedFlag{
		newStoredFlag("scope", s.Reach.String()),
		newStoredFlag("include", patternTexts(s.Include)...), newStoredFlag("exclude", patternTexts(s.Exclude)...),
		newStoredFlag("depth", d.String()), boolFlag("page-requisites", s.Requisites),
		newStoredFlag("accept", s.Accept...), newStoredFlag("reject", s.Reject...),
		boolFlag("keep-session-ids", s.KeepSessionIDs), newStoredFlag("ignore-params", s.IgnoreParameters...),
		boolFlag("follow-links", o.FollowLinks), boolFlag("ignore-robots", o.IgnoreRobots),
		newStoredFlag("nofollow", o.NoFollow.String()), boolFlag("speculate", o.Speculate), boolFlag("delete", o.Delete),
		newStoredFlag("max-delete", strconv.FormatFloat(o.MaxDelete, 'f', -1, 64)),
		intFlag("hosts", int64(o.Hosts)), intFlag("tries", int64(o.Tries)), intFlag("max-files", l.Files),
		intFlag("max-bytes", l.Bytes), secondsFlag("run-time", l.Time), intFlag("max-per-host", l.PerHost),
		intFlag("max-filesize", l.FileSize), intFlag("min-free", l.MinFree), boolFlag("no-tree", !o.Tree),
	}
	if o.PerHost > 0 {
		all = append(all, intFlag("per-host", int64(o.PerHost)).asExplicit())
	}
	if o.Delay != 0 {
		all = append(all, secondsFlag("delay", max(o.Delay, 0)).asExplicit())
	}
	if o.Mail != mirror.NoMailboxes {
		all = append(all, newStoredFlag("mailboxes", o.Mail.String()))
	}
	if o.Store != nil {
		all = append(all, newStoredFlag("store", o.Store.String()))
	}
	stored := guardFlags{*l}
	for _, g := range stored.all() {
		switch n := *g.limit; {
		case n < 0 || n == math.MaxInt64:
			all = append(all, intFlag(g.name(), 0))
		case n > 0:
			all = append(all, intFlag(g.name(), n))
		}
	}
	if w := o.WARC; w != nil {
		all = append(all, boolFlag("warc", true), newStoredFlag("warc-prefix", w.Prefix), intFlag("warc-size", w.Size),
			boolFlag("record-unchanged", w.Unchanged), boolFlag("warc-wire", w.KeepTransferCoding),
			newStoredFlag("operator", w.Info.Get("operator")),
			newStoredFlag("description", w.Info.Get("description")), newStoredFlag("is-part-of", w.Info.Get("isPartOf")))
		if w.Age > 0 {
			all = append(all, newStoredFlag("warc-time", w.Age.String()))
		}
	}
	return all
}

// String returns the flag as it is written on a command line.
func (f storedFlag) String() string {
	return fmt.Sprintf("--%s=%s", f.name, quoteSpaces(strings.Join(f.values, ",")))
}

// words returns the flag as words of a command line, one for each value.
func (f storedFlag) words() (all []string) {
	for _, value := range f.values {
		all = append(all, "--"+f.name+"="+value)
	}
	return all
}

func newStoredFlag(name string, values ...string) storedFlag {
	return storedFlag{name: name, values: values}
}

func (f storedFlag) asExplicit() storedFlag {
	f.explicit = true
	return f
}

func boolFlag(name string, on bool) storedFlag {
	return newStoredFlag(name, strconv.FormatBool(on))
}

func intFlag(name string, n int64) storedFlag {
	return newStoredFlag(name, strconv.FormatInt(n, 10))
}

func secondsFlag(name string, d time.Duration) storedFlag {
	seconds := options.Seconds(d)
	return newStoredFlag(name, seconds.String())
}

func patternTexts(patterns []*regexp.Regexp) (texts []string) {
	for _, p := range patterns {
		texts = append(texts, p.String())
	}
	return texts
}

// continueRecords sets --warc if the archive has WARC files and neither the
// command line nor options.json contains the flag. If the archive has no tree,
// continueRecords also sets --no-tree.
func (c *mirrorCommand) continueRecords(dir string) error {
	f := &c.mirror.archive
	if f.warc || c.isSet("warc") {
		return nil
	}
	records, tree, err := mirror.HasRecords(dir)
	if err != nil || !records {
		return err
	}
	f.warc = true
	if !tree && !c.isSet("no-tree") && f.browse == "" && !c.mirror.update.delete {
		f.noTree = true
	}
	c.Note("%s has WARC files, so this run writes records too (--warc=false writes none)", filepath.Clean(dir))
	return nil
}

// isSet reports whether the command line or options.json contains the flag.
func (c *mirrorCommand) isSet(name string) bool {
	for _, section := range c.flags.Sections {
		if f := section.Flags.Lookup(name); f != nil && f.Changed {
			return true
		}
	}
	return false
}
