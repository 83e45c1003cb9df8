package main

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// flags are the options of the command. Where curl has one for the same
// thing, its name is ours.
type flags struct {
	// where the body goes
	output           []string
	remoteName       bool
	remoteHeaderName bool
	outputDir        string
	createDirs       bool
	noClobber        bool
	skipExisting     bool
	include          bool
	head             bool
	remoteTime       bool
	strict           bool

	// which URLs
	inputFile   string
	parallel    bool
	parallelMax int

	// which part of it
	rng        string
	continueAt string
	timeCond   string

	// how often and how long
	retry          int
	retryDelay     seconds
	retryMaxTime   seconds
	retryAllErrors bool
	maxTime        seconds
	connectTimeout seconds
	maxFilesize    bytesFlag
	limitRate      bytesFlag
	segments       int
	perHost        int
	robots         bool
	delay          seconds

	// where servers may lead
	noLocation      bool
	location        bool
	locationTrusted bool
	maxRedirs       int
	proto           string
	protoDefault    string
	protoRedir      string
	allowDowngrade  bool
	allowPort       []string
	allowAddress    []string
	portPolicy      string

	// what is recorded and proved
	meta     string
	writeOut string
	checksum checksum

	// what is said
	noFail       bool
	fail         bool
	failWithBody bool
	silent       bool
	showError    bool
	verbose      bool
	noProgress   bool
	progressBar  bool
	errorJSON    bool
	noConfig     bool
	configs      []string

	gateway []string
	archive []string
	match   string // how an index is searched

	proxy  proxyFlags
	route  routeFlags
	login  loginFlags
	tls    tlsFlags
	http   httpFlags
	ftp    ftpFlags
	gopher gopherFlags
	news   newsFlags
	mail   mailFlags
	talk   sessionFlags
}

func (f *flags) register(p *pflag.FlagSet) {
	p.StringArrayVarP(&f.output, "output", "o", nil, "write the body to `FILE` (- is standard output); the nth to the nth URL")
	p.BoolVarP(&f.remoteName, "remote-name", "O", false, "write the body to a file named like the last part of the URL")
	p.BoolVarP(&f.remoteHeaderName, "remote-header-name", "J", false, "with -O, take the name that the server proposes; never over a file")
	p.StringVar(&f.outputDir, "output-dir", "", "put files into `DIR`; without -o, names them as -O does")
	p.BoolVar(&f.createDirs, "create-dirs", false, "create the folders of output files")
	p.BoolVar(&f.noClobber, "no-clobber", false, "never replace a file")
	p.BoolVar(&f.skipExisting, "skip-existing", false, "do not fetch what is there")
	p.BoolVarP(&f.include, "include", "i", false, "write the protocol's head before the body")
	p.BoolVarP(&f.head, "head", "I", false, "write what is known without the body")
	p.BoolVarP(&f.remoteTime, "remote-time", "R", false, "give the file the object's time")
	p.BoolVar(&f.strict, "strict", false, "refuse what cannot be proved: an unverified resume, an unknown end")

	p.StringVar(&f.inputFile, "input-file", "", "fetch the URLs in `FILE` too, one a line (- is standard input): they count as typed")
	p.BoolVarP(&f.parallel, "parallel", "Z", false, "fetch several URLs at a time; standard output stays in their order")
	p.IntVar(&f.parallelMax, "parallel-max", 50, "with -Z, `N` at a time")

	p.StringVarP(&f.rng, "range", "r", "", "bring the bytes `FIRST-LAST`, FIRST- or -COUNT alone")
	p.StringVarP(&f.continueAt, "continue-at", "C", "", "continue at byte `OFFSET`; - finds it in what an earlier attempt left")

	p.StringVarP(&f.timeCond, "time-cond", "z", "", "bring the object only if it is newer than `DATE` or a file; with - before it, older")

	p.IntVar(&f.retry, "retry", 3, "try `N` times more after errors that may pass")
	p.Var(&f.retryDelay, "retry-delay", "wait `SECONDS` between attempts instead of ever longer")
	p.Var(&f.retryMaxTime, "retry-max-time", "begin no attempt after `SECONDS`")
	p.BoolVar(&f.retryAllErrors, "retry-all-errors", false, "retry after every error that is not ours")
	p.VarP(&f.maxTime, "max-time", "m", "allow a URL `SECONDS` in all")
	p.Var(&f.connectTimeout, "connect-timeout", "allow an address `SECONDS` to answer")
	p.Var(&f.maxFilesize, "max-filesize", "refuse bodies larger than `BYTES` (100k, 2M, 1G)")
	p.Var(&f.limitRate, "limit-rate", "bring `BYTES` a second at the most, over all bodies together")
	p.IntVar(&f.segments, "segments", 1, "bring a large object of http by `N` requests at a time")
	p.IntVar(&f.perHost, "per-host", 6, "with -Z, ask one host for `N` at a time")
	p.BoolVar(&f.robots, "robots", false, "keep to the robots.txt of sites, of Gopher's too")
	p.Var(&f.delay, "delay", "let `SECONDS` pass between requests to one host")

	p.BoolVar(&f.noLocation, "no-location", false, "show a redirect instead of following it")
	p.BoolVarP(&f.location, "location", "L", true, "follow redirects (always on)")
	p.BoolVar(&f.locationTrusted, "location-trusted", false, "send credentials to whatever host a redirect names")
	p.IntVar(&f.maxRedirs, "max-redirs", 10, "follow `N` redirects at the most; -1 is no limit")
	p.Func("proto", "allow the schemes of `LIST` alone: http,https or =http or -ftp", schemeList(&f.proto))
	p.StringVar(&f.protoDefault, "proto-default", "", "take a URL without a scheme for one of `SCHEME`")
	p.Func("proto-redir", "let redirects lead to the schemes of `LIST`: +gopher or =https", schemeList(&f.protoRedir))
	p.BoolVar(&f.allowDowngrade, "allow-downgrade", false, "let an https page redirect to http")
	p.StringSliceVar(&f.allowPort, "allow-port", nil, "allow `SCHEME:PORT`; with :any also where a server leads")
	p.StringSliceVar(&f.allowAddress, "allow-address", nil, "allow an `ADDRESS` or prefix, metadata services too")
	p.StringVar(&f.portPolicy, "port-policy", "default", "web: http of servers may use every port that browsers allow")

	p.StringVar(&f.meta, "meta", "", "append a record of each object to `FILE`, a line of JSON")
	p.StringVarP(&f.writeOut, "write-out", "w", "", "say `FORMAT` after each URL: curl's variables, %{json}")
	p.Var(&f.checksum, "checksum", "refuse a body that is not `sha256=HEX`")

	p.BoolVar(&f.noFail, "no-fail", false, "write the server's error page and exit 0")
	p.BoolVarP(&f.fail, "fail", "f", true, "make a server's error an error (always on)")
	p.BoolVar(&f.failWithBody, "fail-with-body", false, "write the server's error page and fail")
	p.BoolVarP(&f.silent, "silent", "s", false, "say nothing; with -S errors alone")
	p.BoolVarP(&f.showError, "show-error", "S", false, "say errors even with -s")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "say what is sent and what is answered")
	p.BoolVar(&f.noProgress, "no-progress-meter", false, "show no progress")
	p.BoolVarP(&f.progressBar, "progress-bar", "#", false, "show progress (always on, on a terminal)")
	p.BoolVar(&f.errorJSON, "error-json", false, "say an error as one line of JSON")
	p.BoolVarP(&f.noConfig, "no-config", "q", false, "do not read config.toml")
	p.StringArrayVarP(&f.configs, "config", "K", nil, "read options from `FILE`, one a line (- is standard input)")
	p.StringArrayVar(&f.gateway, "gateway", nil, "fetch URLs of a scheme from a server that does it for others: `SCHEME=URL`")
	p.StringArrayVar(&f.archive, "archive", nil, "answer URLs from this WARC `FILE`, never from the network")
	f.proxy.register(p)
	f.route.register(p)
	f.login.register(p)
	f.tls.register(p)
	f.http.register(p)
	f.ftp.register(p)
	f.gopher.register(p)
	f.news.register(p)
	f.mail.register(p)
	f.talk.register(p)
	refuseWriting(p)
	p.Lookup("location").Hidden = true
	p.Lookup("fail").Hidden = true
	p.Lookup("progress-bar").Hidden = true
}

// refuseWriting registers what curl can write with, to say so.
func refuseWriting(p *pflag.FlagSet) {
	for _, name := range [][2]string{{"data", "d"}, {"request", "X"}, {"upload-file", "T"}, {"form", "F"}, {"data-raw"}, {"data-binary"}, {"data-urlencode"}} {
		p.FuncP(name[0], name[1], "not supported", func(string) error {
			return fetch.Unsupported.Errorf("--%s: fetch only reads", name[0])
		})
		p.Lookup(name[0]).Hidden = true
	}
}

// toStdout reports whether the index-th body goes to standard output.
func (f *flags) toStdout(index int) bool {
	if index < len(f.output) {
		return f.output[index] == "-"
	}
	return !f.remoteName && (f.outputDir == "" || len(f.output) > 0)
}

// anyToStdout reports whether a body may go there.
func (f *flags) anyToStdout() bool {
	for i := range len(f.output) + 1 {
		if f.toStdout(i) {
			return true
		}
	}
	return false
}

// seconds is a duration that is given as curl gives it: 2.5 is two seconds and
// a half. Zero is no limit.
type seconds time.Duration

func (s *seconds) String() string {
	return strconv.FormatFloat(time.Duration(*s).Seconds(), 'g', -1, 64)
}

func (s *seconds) Set(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 1e9 {
		return fetch.Usage.Errorf("not a number of seconds: %q", text)
	}
	*s = seconds(n * float64(time.Second))
	return nil
}

func (*seconds) Type() string { return "seconds" }

// policy is what the flags make of the Policy for typed URLs.
func (f *flags) policy(all []fetch.Scheme) (fetch.Policy, error) {
	p := fetch.Typed()
	p.MaxTime = time.Duration(f.maxTime)
	p.Connect = time.Duration(f.connectTimeout)
	p.MaxBody = int64(f.maxFilesize)
	p.Downgrade, p.LocationTrusted = f.allowDowngrade, f.locationTrusted
	switch {
	case f.maxRedirs < 0:
		p.MaxHops = 1 << 20
	case f.maxRedirs == 0:
		p.MaxHops = -1
	default:
		p.MaxHops = f.maxRedirs
	}
	switch f.portPolicy {
	case "default":
	case "web":
		p.WebPorts = true
	default:
		return p, fetch.Usage.Errorf("--port-policy is default or web, not %q", f.portPolicy)
	}
	for _, text := range f.allowPort {
		r, err := fetch.ParsePortRule(text)
		if err != nil {
			return p, err
		}
		p.Ports = append(p.Ports, r)
	}
	for _, text := range f.allowAddress {
		var r netip.Prefix
		var err error
		if r, err = fetch.ParseAddressRule(text); err != nil {
			return p, err
		}
		p.Addresses = append(p.Addresses, r)
	}
	return p, f.protocols(&p, all)
}

// protocols reads --proto and --proto-redir as curl does: a list of names, each
// with + (also), - (not) or = (these alone) before it. The list of
// --proto-redir begins with the Web.
func (f *flags) protocols(p *fetch.Policy, all []fetch.Scheme) (err error) {
	var known, web []string
	for _, s := range all {
		known = append(known, s.Name)
		if s.Traits.Web {
			web = append(web, s.Name)
		}
	}
	if f.proto != "" {
		if p.Schemes, err = protocolList(f.proto, known, known); err != nil {
			return err
		}
	}
	if f.protoRedir == "" {
		return nil
	}
	if p.RedirectsOnly, err = protocolList(f.protoRedir, web, known); err != nil {
		return err
	}
	p.Redirects = p.RedirectsOnly
	return nil
}

// schemeList keeps a list in which something must stand: an empty one would
// allow everything to whoever wanted nothing (CVE-2024-2004).
func schemeList(to *string) func(string) error {
	return func(text string) error {
		if *to = text; text == "" {
			return fetch.Usage.Errorf("an empty list of schemes")
		}
		return nil
	}
}

func protocolList(list string, start, known []string) ([]string, error) {
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
			return nil, fetch.Usage.Errorf("no scheme in %q", withoutLogin(list))
		} else if _, reserved := fetch.ReservedScheme(name); !reserved && !slices.Contains(known, name) {
			return nil, fetch.Usage.Errorf("no scheme %s that could be allowed or not", withoutLogin(name))
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
