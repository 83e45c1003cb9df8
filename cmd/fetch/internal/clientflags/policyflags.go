package clientflags

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/reservedscheme"
)

// policyFlags are the flags that allow or block schemes, ports and addresses.
type policyFlags struct {
	proto        string
	ProtoDefault string
	protoRedir   string
	downgrade    bool
	ports        []string
	addresses    []string
	portPolicy   string
}

func (f *policyFlags) register(s *options.Set) {
	p := s.Section("Redirects and policy")
	p.Func("proto", "allow only these `SCHEMES` (-ftp for all except ftp)", nonEmptyList(&f.proto))
	p.StringVar(&f.ProtoDefault, "proto-default", "", "use `SCHEME` for URLs without a scheme")
	p.Func("proto-redir", "allow redirects only to these `SCHEMES`", nonEmptyList(&f.protoRedir))
	p.BoolVar(&f.downgrade, "allow-downgrade", false, "allow redirects from https to http")
	p.StringSliceVar(&f.ports, "allow-port", nil, "`SCHEME:PORT`: allow a blocked port (with :any at the end, also in redirects)")
	p.StringSliceVar(&f.addresses, "allow-address", nil, "allow a blocked IP `ADDRESS` or prefix")
	p.StringVar(&f.portPolicy, "port-policy", "default",
		"`POLICY`: set the ports for redirects (default, or web as in browsers)")
	options.SetValues(p.Lookup("port-policy"), "default", "web")
}

// nonEmptyList returns a flag function that stores a list of schemes. An empty
// list is an error, because it would allow every scheme (CVE-2024-2004).
func nonEmptyList(list *string) func(string) error {
	return func(text string) error {
		if *list = text; text == "" {
			return fetch.Usage.Errorf("the list of schemes is empty")
		}
		return nil
	}
}

// policy returns a copy of the policy p, changed as the flags require.
func (f *policyFlags) policy(p fetch.Policy, l *limitFlags, all []fetch.Scheme) (fetch.Policy, error) {
	p.MaxTime = cmp.Or(time.Duration(l.MaxTime), p.MaxTime)
	p.Connect = time.Duration(l.connectTimeout)
	p.MaxBody = int64(l.MaxFilesize)
	l.applySpeed(&p)
	p.Downgrade = f.downgrade
	switch f.portPolicy {
	case "default":
	case "web":
		p.WebPorts = true
	default:
		return p, fetch.Usage.Errorf("--port-policy is default or web, not %q", f.portPolicy)
	}
	for _, text := range f.ports {
		r, err := fetch.ParsePortRule(text)
		if err != nil {
			return p, err
		}
		p.Ports = append(p.Ports, r)
	}
	for _, text := range f.addresses {
		var r netip.Prefix
		var err error
		if r, err = fetch.ParseAddressRule(text); err != nil {
			return p, err
		}
		p.Addresses = append(p.Addresses, r)
	}
	return p, f.setSchemes(&p, all)
}

// setSchemes applies --proto and --proto-redir to the policy p. As in curl,
// each scheme can have a prefix: + adds the scheme, - removes it, and = allows
// only this scheme. The default for --proto-redir is the set of web schemes.
func (f *policyFlags) setSchemes(p *fetch.Policy, all []fetch.Scheme) (err error) {
	var known, web []string
	for _, s := range all {
		known = append(known, s.Name)
		if s.Traits.Web {
			web = append(web, s.Name)
		}
	}
	if f.proto != "" {
		if p.Schemes, err = parseSchemeList(f.proto, known, known); err != nil {
			return err
		}
	}
	if f.protoRedir == "" {
		return nil
	}
	if p.RedirectsOnly, err = parseSchemeList(f.protoRedir, web, known); err != nil {
		return err
	}
	p.Redirects = p.RedirectsOnly
	return nil
}

// parseSchemeList applies a list such as "-ftp,+gopher" to the schemes in start
// and returns the resulting schemes. The name "all" means all known schemes.
func parseSchemeList(list string, start, known []string) ([]string, error) {
	set := map[string]bool{}
	put := func(names []string, on bool) {
		for _, n := range names {
			set[n] = on
		}
	}
	put(start, true)
	for i, item := range strings.Split(list, ",") {
		name := strings.ToLower(strings.TrimLeft(item, "+-="))
		names := []string{name}
		if name == "all" {
			names = known
		} else if name == "" {
			return nil, fetch.Usage.Errorf("a scheme is missing in the list %q", console.MaskLogin(list))
		} else if _, reserved := reservedscheme.Describe(name); !reserved && !slices.Contains(known, name) {
			return nil, fetch.Usage.Errorf("no scheme %s in the list of supported schemes", console.MaskLogin(name))
		}
		switch {
		case item[0] == '-':
			put(names, false)
		case item[0] == '=' || item[0] != '+' && i == 0:
			clear(set)
			put(names, true)
		default:
			put(names, true)
		}
	}
	chosen := []string{}
	for n, on := range set {
		if on {
			chosen = append(chosen, n)
		}
	}
	return chosen, nil
}

// RedirectFlags are the flags that control how redirects are followed.
type RedirectFlags struct {
	NoFollow bool
	follow   bool // ignored, because redirects are followed by default
	Trusted  bool
	limit    int
}

func (f *RedirectFlags) Register(s *options.Set) {
	p := s.Section("Redirects and policy")
	p.BoolVar(&f.NoFollow, "no-location", false, "do not follow redirects")
	p.BoolVarP(&f.follow, "location", "L", true, "follow redirects (default)")
	p.BoolVar(&f.Trusted, "location-trusted", false, "send credentials to all hosts of redirects (insecure)")
	p.IntVar(&f.limit, "max-redirs", 10, "follow at most `N` redirects (-1 for no limit)")
	p.Lookup("location").Hidden = true
}

// apply sets the options for redirects in the policy p.
func (f *RedirectFlags) apply(p *fetch.Policy) {
	p.LocationTrusted = f.Trusted
	switch {
	case f.limit < 0:
		p.MaxHops = 1 << 20
	case f.limit == 0:
		p.MaxHops = -1
	default:
		p.MaxHops = f.limit
	}
}
