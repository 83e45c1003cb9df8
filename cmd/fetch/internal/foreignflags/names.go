package foreignflags

import "github.com/spf13/pflag"

// otherNames maps long options, most of them from wget, to flags of fetch with
// the same meaning.
var otherNames = map[string]string{
	"bind-address":         "interface",
	"ca-certificate":       "cacert",
	"certificate":          "cert",
	"directory-prefix":     "output-dir",
	"ignore-length":        "ignore-content-length",
	"inet4-only":           "ipv4",
	"inet6-only":           "ipv6",
	"load-cookies":         "cookie",
	"max-redirect":         "max-redirs",
	"no-check-certificate": "insecure",
	"private-key":          "key",
	"quiet":                "silent",
	"quota":                "max-bytes",
	"disable":              "no-config",   // of curl
	"remote-name-all":      "remote-name", // of curl
	"save-cookies":         "cookie-jar",
	"start-pos":            "continue-at",
	"wait":                 "delay",
}

// AddNames makes flags also accept the names of equivalent options of wget and
// curl.
func AddNames(flags *pflag.FlagSet) {
	names := map[string]string{}
	for other, name := range otherNames {
		if flags.Lookup(name) != nil && flags.Lookup(other) == nil {
			names[other] = name
		}
	}
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if own, ok := names[name]; ok {
			name = own
		}
		return pflag.NormalizedName(name)
	})
}
