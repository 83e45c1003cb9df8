package mirror

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
)

// maxInfoSeeds is the maximum number of seeds in a warcinfo record, and
// maxInfoSettings is the maximum size of its settings in bytes.
const (
	maxInfoSeeds    = 1000
	maxInfoSettings = 64 << 10
)

// warcInfo returns the fields of the warcinfo record of each WARC file:
// WARC.Info, the host name, the seeds and the settings of the run.
func warcInfo(o *Options) fetch.Header {
	info := slices.Clone(o.WARC.Info)
	add := func(name, value string) {
		if value != "" && info.Get(name) == "" {
			info = append(info, fetch.Field{Name: name, Value: value})
		}
	}
	host, _ := os.Hostname()
	add("hostname", host)
	robots := "obey"
	if o.IgnoreRobots {
		robots = "ignore"
	}
	add("robots", robots)
	for i, u := range o.Seeds {
		if i == maxInfoSeeds {
			add("seeds-omitted", strconv.Itoa(len(o.Seeds)-i))
			break
		}
		info = append(info, fetch.Field{Name: "seed", Value: archive.Canonical(u)})
	}
	s := settingsOf(o)
	if text, err := json.Marshal(&s); err == nil && len(text) <= maxInfoSettings {
		add("settings", string(text))
	}
	return info
}
