package fetch

import (
	"slices"

	"github.com/anyurl/fetch/uri"
)

// referrals says where a page of each scheme may lead without anybody's
// leave. What is not here, leads nowhere.
var referrals = map[string][]string{
	"http":     {"http", "https", "ftp", "ftps"}, // as in curl, wget and lynx
	"https":    {"https"},
	"gopher":   {"http", "https", "gopher", "gophers"},
	"gophers":  {"http", "https", "gopher", "gophers"},
	"ftp":      {"ftp", "ftps", "http", "https"},
	"ftps":     {"ftps", "https"},
	"news":     {"news", "nntp", "snews", "nntps"},
	"nntp":     {"news", "nntp", "snews", "nntps"},
	"snews":    {"snews", "nntps"},
	"nntps":    {"snews", "nntps"},
	"wais":     {"wais"},
	"prospero": {"http", "https", "ftp", "gopher", "wais", "prospero"},
	"file":     {"file"},
	"imap":     {"imap", "imaps"},
	"imaps":    {"imaps"},
	"mid":      {"mid", "cid"},
	"cid":      {"mid", "cid"},
	"mailto":   {"mid", "cid"},
}

// confined are schemes that nothing but their own kind may lead to: they read
// this machine, join a person's terminal, or open a mailbox.
var confined = []string{"file", "telnet", "rlogin", "tn3270", "imap", "imaps", "mid", "cid", "mailto"}

// localSchemes read what a person keeps on this machine or in a mailbox. A
// policy for strangers' URLs must name them.
var localSchemes = []string{"file", "mid", "cid", "mailto"}

// ownPortOnly: what a directory of another protocol names is reached at the
// scheme's own port, or not at all.
var ownPortOnly = []string{"prospero"}

// judgeReferral refuses a step from one scheme to another that a server may
// not make us take.
func (p *Policy) judgeReferral(from, to uri.URI, port, own uint16) error {
	source, target := from.Scheme(), to.Scheme()
	step := source + " to " + target
	if source == "https" && target == "http" {
		if !p.Downgrade {
			return refuseReferral("https page led to http", step, "--allow-downgrade")
		}
		return p.judgeOnly(target, step)
	}
	if !slices.Contains(referrals[source], target) {
		if slices.Contains(confined, target) {
			return refuseReferral("no server may lead to this scheme", step, "")
		}
		if !slices.Contains(p.Redirects, target) && !slices.Contains(p.Redirects, "*") {
			return refuseReferral("a server led to another scheme", step, "--proto-redir +"+target)
		}
	}
	if slices.Contains(ownPortOnly, source) && source != target && port != own {
		return refuseReferral("referral to a port that is not the scheme's own", step, "")
	}
	return p.judgeOnly(target, step)
}

func (p *Policy) judgeOnly(target, step string) error {
	if p.Only != nil && !slices.Contains(p.Only, target) {
		return refuseReferral("a server led to a scheme that is not allowed", step, "--proto-redir +"+target)
	}
	return nil
}

func refuseReferral(rule, step, override string) error {
	return BadReferral.With(&Refusal{Rule: rule, Subject: step, Override: override})
}
