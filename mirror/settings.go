package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/uri"
)

// settingsVersion is the version of the format of options.json.
const settingsVersion = 1

// settings contains the options of a run that are stored in options.json. It
// contains no Policy, credentials, header fields, proxies or paths.
type settings struct {
	Version int      `json:"version,omitempty"`
	Seeds   []string `json:"seeds,omitempty"`
	Omitted int      `json:"seeds_omitted,omitempty"` // number of seeds, if their list was too long to be stored

	Tree  bool          `json:"tree"`
	WARC  *warcSettings `json:"warc,omitempty"`
	Mail  string        `json:"mailboxes,omitempty"` // "mbox" or "maildir"
	Scope scopeSettings `json:"scope"`

	Limits    limitSettings `json:"limits"`
	Hosts     int           `json:"hosts"`
	PerHost   int           `json:"per_host,omitempty"`
	Tries     int           `json:"tries"`
	Delay     *float64      `json:"delay_seconds,omitempty"` // nil means the default
	Delete    bool          `json:"delete,omitempty"`
	MaxDelete float64       `json:"max_delete"`

	Agent        string `json:"agent"`
	IgnoreRobots bool   `json:"ignore_robots,omitempty"`
	NoFollow     string `json:"nofollow"`
	Speculate    bool   `json:"speculate,omitempty"`
	FollowLinks  bool   `json:"follow_links,omitempty"`

	Store string `json:"store,omitempty"` // only in the settings of a shared crawl
}

type warcSettings struct {
	Prefix      string  `json:"prefix,omitempty"`
	Size        int64   `json:"size,omitempty"`
	Seconds     float64 `json:"seconds,omitempty"`
	Unchanged   bool    `json:"record_unchanged,omitempty"`
	KeepCoding  bool    `json:"keep_transfer_coding,omitempty"`
	Operator    string  `json:"operator,omitempty"`
	Description string  `json:"description,omitempty"`
	IsPartOf    string  `json:"is_part_of,omitempty"`
}

type scopeSettings struct {
	Reach      string   `json:"reach"`
	Include    []string `json:"include,omitempty"`
	Exclude    []string `json:"exclude,omitempty"`
	Depth      int      `json:"depth,omitempty"`
	Requisites bool     `json:"requisites,omitempty"`
	Accept     []string `json:"accept,omitempty"`
	Reject     []string `json:"reject,omitempty"`

	KeepSessionIDs   bool     `json:"keep_session_ids,omitempty"`
	IgnoreParameters []string `json:"ignore_params,omitempty"`
}

// limitSettings contains Limits. A negative value means no limit.
type limitSettings struct {
	Limits
	Seconds float64 `json:"seconds,omitempty"` // Limits.Time
}

// settingsOf returns the settings of a run without its seeds.
func settingsOf(o *Options) settings {
	s := settings{
		Tree: o.Tree, Mail: o.Mail.String(), Scope: scopeSettingsOf(&o.Scope), Limits: limitSettingsOf(o.Limits),
		Hosts: o.Hosts, PerHost: o.PerHost, Tries: o.Tries, Delete: o.Delete, MaxDelete: o.MaxDelete, Agent: o.Agent,
		IgnoreRobots: o.IgnoreRobots, NoFollow: o.NoFollow.String(), Speculate: o.Speculate, FollowLinks: o.FollowLinks,
	}
	if o.Delay != 0 {
		seconds := max(o.Delay, 0).Seconds()
		s.Delay = &seconds
	}
	if w := o.WARC; w != nil {
		s.WARC = &warcSettings{
			Prefix: w.Prefix, Size: w.Size, Seconds: w.Age.Seconds(), Unchanged: w.Unchanged, KeepCoding: w.KeepTransferCoding,
			Operator: w.Info.Get("operator"), Description: w.Info.Get("description"), IsPartOf: w.Info.Get("isPartOf"),
		}
	}
	return s
}

func scopeSettingsOf(o *Scope) scopeSettings {
	return scopeSettings{
		Reach: o.Reach.String(), Include: patternTexts(o.Include), Exclude: patternTexts(o.Exclude), Depth: o.Depth,
		Requisites: o.Requisites, Accept: o.Accept, Reject: o.Reject,
		KeepSessionIDs: o.KeepSessionIDs, IgnoreParameters: o.IgnoreParameters,
	}
}

func patternTexts(patterns []*regexp.Regexp) (texts []string) {
	for _, p := range patterns {
		texts = append(texts, p.String())
	}
	return texts
}

func limitSettingsOf(l Limits) limitSettings {
	s := limitSettings{l, l.Time.Seconds()}
	for _, n := range []*int64{
		&s.Links, &s.Entries, &s.Queue, &s.URLBytes, &s.Repeats, &s.Queries, &s.Chained, &s.DeepPaths, &s.Sitemaps,
		&s.SameText,
	} {
		if *n < 0 || *n == math.MaxInt64 {
			*n = -1
		}
	}
	return s
}

// storeOptions writes the options of the run to options.json. If the list of
// seeds is too long, it stores only the other options. Options that were read
// from the file are not written again.
func (c *crawl) storeOptions() error {
	if c.o.StoredSeeds || c.o.DiscardOptions {
		return nil
	}
	s := settingsOf(&c.o)
	s.Version = settingsVersion
	for _, u := range c.o.Seeds {
		s.Seeds = append(s.Seeds, archive.Canonical(u))
	}
	text, err := s.encode()
	if err == nil && len(text) > archive.MaxOptions {
		s.Omitted, s.Seeds = len(s.Seeds), nil
		text, err = s.encode()
	}
	if err != nil || len(text) > archive.MaxOptions {
		return err // patterns of several megabytes are not stored
	}
	return c.archive.WriteOptions(text)
}

func (s *settings) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}

// Options returns the options that the newest run of the crawl has stored. Runs
// with DiscardOptions or StoredSeeds do not store their options. The caller sets
// Client and the functions. The crawl does not store the fields Recheck, MaxLost,
// Worker, Again, Sink, Marks, Now, Scope.Filter and WARC.Dedup. Of WARC.Info, it
// stores only the fields operator, description and isPartOf. If there are no
// stored options, the error wraps fs.ErrNotExist.
//
// For an archive, the fields Dir and StoredSeeds are set. The archive may come
// from an untrusted source. The options contain no paths, and all numbers are in
// a valid range. If the options are damaged, or if a newer version of this
// package wrote them, the fault of the error is fetch.Local.
//
// For a crawl with a shared frontier, the caller also sets Dir and WARC, and
// replaces Store, which has only the URL that the database names. Run returns
// ErrUnnamedStore for this Store.
func (c *Crawl) Options(ctx context.Context) (Options, error) {
	if c.place.Frontier != nil {
		return c.sharedOptions(ctx)
	}
	return storedOptions(c.place.Dir)
}

// storedOptions returns the options in the archive in the directory dir.
func storedOptions(dir string) (Options, error) {
	text, err := archive.ReadOptions(dir)
	if err != nil {
		return Options{}, err
	}
	var s settings
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&s); err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		err = errors.New("text after the end of the JSON object")
	}
	o := Options{}
	switch {
	case err != nil:
	case s.Version != settingsVersion:
		err = errors.New("unknown version " + strconv.Itoa(s.Version))
	default:
		o, err = s.options()
	}
	if err != nil {
		return Options{}, fetch.Local.Errorf("options.json of %s is damaged, or a newer version of fetch wrote it: %w", dir, err)
	}
	o.Dir = dir
	return o, nil
}

// HasRecords reports whether the archive in the directory dir has WARC files,
// and whether it has a tree. A directory that does not exist has neither.
func HasRecords(dir string) (records, tree bool, err error) { return archive.Forms(dir) }

// options converts the settings to options.
func (s *settings) options() (o Options, err error) {
	if err := s.check(); err != nil {
		return o, err
	}
	o = Options{
		StoredSeeds: true, Tree: s.Tree, Hosts: s.Hosts, PerHost: s.PerHost, Tries: s.Tries, Delete: s.Delete,
		MaxDelete: s.MaxDelete, Agent: s.Agent, IgnoreRobots: s.IgnoreRobots, Speculate: s.Speculate,
		FollowLinks: s.FollowLinks, Limits: s.Limits.limits(),
	}
	if s.Store != "" {
		o.Store = namedStore(s.Store)
	}
	var ok bool
	if o.NoFollow, ok = ParseNoFollow(s.NoFollow); !ok {
		return o, errors.New("unknown value of nofollow")
	}
	for i, name := range mailNames {
		if name == s.Mail {
			o.Mail = Mailboxes(i)
		}
	}
	if s.Delay != nil {
		if o.Delay = time.Duration(*s.Delay * float64(time.Second)); o.Delay <= 0 {
			o.Delay = -1
		}
	}
	if w := s.WARC; w != nil {
		o.WARC = &WARC{Prefix: w.Prefix, Size: w.Size, Age: time.Duration(w.Seconds * float64(time.Second)), Unchanged: w.Unchanged, KeepTransferCoding: w.KeepCoding}
		for _, f := range []fetch.Field{
			{Name: "operator", Value: w.Operator}, {Name: "description", Value: w.Description},
			{Name: "isPartOf", Value: w.IsPartOf},
		} {
			if f.Value != "" {
				o.WARC.Info = append(o.WARC.Info, f)
			}
		}
	}
	if o.Scope, err = s.Scope.scope(); err != nil {
		return o, err
	}
	for _, text := range s.Seeds {
		u, err := uri.Parse(text)
		if err != nil || archive.Canonical(u) != text {
			return o, errors.New("a seed is not a normalized URL")
		}
		o.Seeds = append(o.Seeds, u)
	}
	return o, nil
}
