package foreignflags

// An option describes an option of another program, and the flags of fetch that
// have the same effect. In the flags, VALUE is a placeholder for the value of the
// option.
type option struct {
	names  string // all spellings, separated by spaces; the first one appears in messages
	value  bool   // if true, the option has a value
	fetch  string // flags of fetch, "" if none are needed, or the constant missing
	mirror string // flags of fetch mirror
	crawl  bool   // if true, the option has a meaning only for fetch mirror
	browse bool   // if true, the equivalent command is fetch browse

	convert func(value string) string // returns VALUE, or "" if the option has no equivalent; may be nil
}

// missing marks an option without an equivalent.
const missing = "-"

// A program describes another program, such as wget, and its options.
type program struct {
	name    string
	options []option
	finish  func(*translation) // adds the flags that depend on several options; may be nil
	clusters
}

// clusters describes how a program parses arguments with a single dash.
type clusters int

const (
	oneLetter clusters = iota // -ab is -a -b
	wgetStyle                 // like oneLetter, but -nab is -na -nb
	oneWord                   // -ab is one option
	withFlags                 // like oneLetter, but other letters are flags of fetch
)

// lookup returns the option with the given spelling, or nil.
func (p *program) lookup(spelled string) *option {
	for i := range p.options {
		if hasName(p.options[i].names, spelled) {
			return &p.options[i]
		}
	}
	return nil
}

// programs returns the programs of which users may type options for a command.
// The options of curl are not listed, because fetch uses the same options.
func programs(command string) []*program {
	if command != "fetch" && command != "fetch mirror" {
		return listingPrograms(command)
	}
	return []*program{
		{name: "wget", options: wgetOptions(), finish: finishWget, clusters: wgetStyle},
		{name: "aria2", options: aria2Options()},
		{name: "lftp", options: lftpOptions()},
		{name: "lynx", options: lynxOptions(), clusters: oneWord},
	}
}

// wgetOptions returns the options of wget. Long options with the same name and
// meaning in fetch are listed only if they also have a short spelling.
func wgetOptions() []option {
	return []option{
		// Output
		{names: "-O --output-document", value: true, fetch: "-o VALUE", mirror: missing, convert: outputName},
		{names: "-nc --no-clobber", fetch: "-O --skip-existing"},
		{names: "-c --continue", fetch: "-O -C -"},
		{names: "-N --timestamping", fetch: "-O --timestamping"},
		{names: "-P --directory-prefix", value: true, fetch: "--create-dirs --output-dir VALUE",
			mirror: "--output-dir VALUE"},
		{names: "--content-disposition", fetch: "-O -J"},
		{names: "--trust-server-names", fetch: "-O -J"},
		{names: "-o --output-file", value: true, fetch: missing, mirror: missing},
		{names: "-a --append-output", value: true, fetch: missing, mirror: missing},
		{names: "-q --quiet", fetch: "-s", mirror: "-s"},
		{names: "-nv --no-verbose", fetch: "--no-progress-meter", mirror: "--no-progress-meter"},
		{names: "-v --verbose"},
		{names: "-d --debug", fetch: "-v", mirror: "-v"},
		{names: "-S --server-response", fetch: "-v", mirror: "-v"},
		{names: "--save-headers", fetch: "-i", mirror: "--warc"},
		{names: "--show-progress"}, {names: "--progress", value: true},
		{names: "-b --background", fetch: missing, mirror: missing},
		{names: "--no-use-server-timestamps"}, {names: "--unlink"},
		{names: "--content-on-error", fetch: "--no-fail"},

		// Requests
		{names: "-i --input-file", value: true, fetch: "--input-file VALUE", mirror: "--input-file VALUE"},
		{names: "--spider", fetch: "-I", mirror: "--dry-run"},
		{names: "-U --user-agent", value: true, fetch: "-A VALUE", mirror: "-A VALUE"},
		{names: "--user --http-user --ftp-user", value: true, fetch: "-u USER", mirror: "-u USER"},
		{names: "--password --http-password --ftp-password", value: true, fetch: "-u USER",
			mirror: "-u USER"},
		{names: "--ask-password"},
		{names: "--proxy-password", value: true, fetch: "-U USER", mirror: "-U USER"},
		{names: "--no-proxy", fetch: "--noproxy *", mirror: "--noproxy *"},
		{names: "--compression", value: true, fetch: "--compressed", mirror: "--compressed"},
		{names: "--no-cookies"}, {names: "--no-cache"}, {names: "--no-hsts"}, {names: "--no-dns-cache"},
		{names: "--keep-session-cookies"}, {names: "--no-http-keep-alive"}, {names: "--auth-no-challenge"},
		{names: "--no-passive-ftp", fetch: "-P -", mirror: "-P -"}, {names: "--no-glob", fetch: "-g"},
		{names: "--https-only", fetch: "--proto =https", mirror: "--proto =https"},
		{names: "-4 --inet4-only", fetch: "-4", mirror: "-4"}, {names: "-6 --inet6-only", fetch: "-6", mirror: "-6"},
		{names: "-e --execute", value: true, fetch: "VALUE", mirror: "VALUE", convert: wgetrc},
		{names: "--warc-cdx"}, {names: "--no-warc-compression"},

		// Retries and limits
		{names: "-t --tries", value: true, fetch: "--tries VALUE", mirror: "--tries VALUE"},
		{names: "-T --timeout --dns-timeout --read-timeout", value: true, fetch: "--connect-timeout VALUE",
			mirror: "--connect-timeout VALUE"},
		{names: "-w --wait", value: true, fetch: "--delay VALUE", mirror: "--delay VALUE"},
		{names: "--waitretry", value: true, fetch: "--retry-delay VALUE", mirror: "--retry-delay VALUE"},
		{names: "--random-wait"},
		{names: "-Q --quota", value: true, fetch: missing, mirror: "--max-bytes VALUE"},

		// Several pages
		{names: "-r --recursive", crawl: true}, {names: "-m --mirror", crawl: true},
		{names: "-p --page-requisites", crawl: true},
		{names: "-l --level", value: true, mirror: "--depth VALUE", crawl: true, convert: wgetDepth},
		{names: "-np --no-parent", crawl: true}, {names: "-H --span-hosts", crawl: true},
		{names: "-k --convert-links", mirror: "--browse copy", crawl: true},
		{names: "-K --backup-converted", crawl: true}, {names: "-E --adjust-extension", crawl: true},
		{names: "-nd --no-directories"}, {names: "-nH --no-host-directories", crawl: true},
		{names: "-x --force-directories", fetch: "--force-directories"}, {names: "--cut-dirs", value: true, crawl: true},
		{names: "--restrict-file-names", value: true, crawl: true}, {names: "--no-remove-listing", crawl: true},
		{names: "-A --accept", value: true, mirror: "--accept VALUE", crawl: true, convert: mediaTypes},
		{names: "-R --reject", value: true, mirror: "--exclude VALUE", crawl: true, convert: suffixPattern},
		{names: "--accept-regex", value: true, mirror: missing, crawl: true},
		{names: "--reject-regex", value: true, mirror: "--exclude VALUE", crawl: true},
		{names: "-D --domains", value: true, mirror: "--include VALUE", crawl: true, convert: domainPattern},
		{names: "--exclude-domains", value: true, mirror: "--exclude VALUE", crawl: true, convert: domainPattern},
		{names: "-X --exclude-directories", value: true, mirror: "--exclude VALUE", crawl: true,
			convert: directoryPattern},
		{names: "-I --include-directories", value: true, mirror: missing, crawl: true},
		{names: "--follow-ftp", crawl: true}, {names: "-L --relative", mirror: missing, crawl: true},
		{names: "--retr-symlinks", mirror: "--follow-links", crawl: true},
		{names: "--delete-after", mirror: missing, crawl: true},
	}
}

// aria2Options returns the options of aria2c that differ from the options of
// fetch.
func aria2Options() []option {
	return []option{
		{names: "-x --max-connection-per-server", value: true, fetch: "-O --segments VALUE"},
		{names: "-s --split", value: true}, {names: "-k --min-split-size", value: true},
		{names: "-j --max-concurrent-downloads", value: true, fetch: "-O -Z --parallel-max VALUE"},
		{names: "-d --dir", value: true, fetch: "--create-dirs --output-dir VALUE"}, {names: "-o --out", value: true, fetch: "-o VALUE"},
		{names: "-i", value: true, fetch: "--input-file VALUE"}, {names: "-c", fetch: "-O -C -"},
		{names: "-m --max-tries", value: true, fetch: "--tries VALUE"}, {names: "-q", fetch: "-s"},
		{names: "-t", value: true, fetch: "--connect-timeout VALUE"},
		{names: "--max-download-limit --max-overall-download-limit", value: true, fetch: "--limit-rate VALUE"},
		{names: "--all-proxy", value: true, fetch: "-x VALUE"},
	}
}

// lftpOptions returns the options of lftp. The values of -c and -e are commands
// of lftp.
func lftpOptions() []option {
	return []option{
		{names: "-c", value: true, mirror: "VALUE", crawl: true, convert: lftpURL}, {names: "-e", value: true, crawl: true},
		{names: "-u --user", value: true, mirror: "-u USER"},
	}
}

// lynxOptions returns the options of lynx that have an equivalent in fetch.
func lynxOptions() []option {
	return []option{
		{names: "-dump", browse: true}, {names: "-source"}, {names: "-nolist"}, {names: "-head", fetch: "-I"},
		{names: "-width", value: true}, {names: "-accept_all_cookies"},
	}
}
