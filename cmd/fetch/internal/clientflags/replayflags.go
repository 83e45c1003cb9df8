package clientflags

import (
	"context"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/warc"
	"github.com/spf13/pflag"
)

// ReplayFlags are the flags for reading objects from archives instead of the
// network.
type ReplayFlags struct {
	Archives []string
	at       period
}

func (f *ReplayFlags) Register(s *options.Set) { f.AddTo(s.Section("Archives")) }

// AddTo registers the flags in a section of the help text.
func (f *ReplayFlags) AddTo(p *pflag.FlagSet) {
	p.StringArrayVar(&f.Archives, "archive", nil, "read objects from the mirror, WARC or WACZ `FILE` (or store), not the network")
	p.Var(&f.at, "at", "with --archive, read the capture nearest to `DATE` (such as 2026-11-21)")
}

// Open opens the archives. It returns nil if the flags name no archive.
func (f *ReplayFlags) Open(ctx context.Context, s *console.Streams) (*warc.Archive, error) {
	if len(f.Archives) == 0 {
		if f.at.text != "" {
			return nil, fetch.Usage.Errorf("--at requires --archive")
		}
		return nil, nil
	}
	a, err := OpenArchives(s, ctx, f.Archives...)
	if err != nil {
		return nil, err
	}
	a.Time, a.Until = f.at.first, f.at.last
	return a, nil
}

// replayOnly returns schemes that other programs use for records in WARC files:
// metadata of wget, and dns of Heritrix. They have no driver for the network.
func replayOnly() []fetch.Scheme { return []fetch.Scheme{{Name: "metadata"}, {Name: "dns"}} }

// A period is the value of --at: the time from first to last, such as a year,
// or a single moment.
type period struct {
	text        string
	first, last time.Time
}

// periodForms are the date formats that --at accepts. Dates without a time zone
// are in UTC.
var periodForms = []string{
	"2006", "200601", "20060102", "2006010215", "200601021504", "20060102150405",
	"2006-01", "2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	"2006-01-02T15:04Z07:00", time.RFC3339Nano,
}

func (p *period) String() string { return p.text }

// Set parses 4 to 14 digits, as in a CDX index, or a date of ISO 8601. The period
// is as long as the smallest unit of the date, such as one month for 2026-11.
func (p *period) Set(text string) error {
	for _, form := range periodForms {
		first, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		p.text, p.first, p.last = text, first.UTC(), first.UTC()
		switch {
		case strings.Contains(form, "05"):
		case strings.HasSuffix(strings.TrimSuffix(form, "Z07:00"), "04"):
			p.last = p.first.Add(time.Minute)
		case strings.HasSuffix(form, "15"):
			p.last = p.first.Add(time.Hour)
		case strings.HasSuffix(form, "02"):
			p.last = p.first.AddDate(0, 0, 1)
		case strings.HasSuffix(form, "01"):
			p.last = p.first.AddDate(0, 1, 0)
		default:
			p.last = p.first.AddDate(1, 0, 0)
		}
		if p.last.After(p.first) {
			p.last = p.last.Add(-time.Second)
		}
		return nil
	}
	return fetch.Usage.Errorf("neither 4 to 14 digits (YYYYMMDDhhmmss) nor a date such as 2026-11-21T08:30:00Z: %q", text)
}

func (*period) Type() string { return "date" }
