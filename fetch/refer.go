package fetch

import "slices"

// judgeReferral refuses a step to a URL that a server supplied, from a document
// of the scheme source. Port is that of the URL.
func (p *Policy) judgeReferral(source, target *Scheme, port uint16) error {
	step := source.Name + " to " + target.Name
	downgrade := slices.Contains(source.Links.Downgrade, target.Name)
	switch {
	case target.confined() && !target.mayFollow(source):
		return refuseReferral("no server may lead to this scheme", step, Override{})
	case downgrade && !p.Downgrade:
		return refuseReferral(source.Name+" page led to "+target.Name, step, Override{Kind: OverrideDowngrade})
	case !downgrade && !slices.Contains(source.Links.To, target.Name) && !p.redirects(target.Name):
		return refuseReferral("a server led to another scheme", step, Override{OverrideRedirects, target.Name})
	case source.Links.OwnPort && source.Name != target.Name && port != target.Port:
		return refuseReferral("referral to a port that is not the scheme's own", step, Override{})
	case p.Only != nil && !slices.Contains(p.Only, target.Name):
		return refuseReferral("a server led to a scheme that is not allowed", step, Override{OverrideRedirects, target.Name})
	}
	return nil
}

func (p *Policy) redirects(scheme string) bool {
	return slices.Contains(p.Redirects, scheme) || slices.Contains(p.Redirects, "*")
}

func (s *Scheme) confined() bool { return s.Links.Confined || s.Local }

// mayFollow reports whether documents of source may lead to the confined
// scheme s. The data of both schemes must allow it.
func (s *Scheme) mayFollow(source *Scheme) bool {
	return slices.Contains(s.Links.From, source.Name) && slices.Contains(source.Links.To, s.Name)
}

func refuseReferral(rule, step string, override Override) error {
	return BadReferral.With(&Refusal{Rule: rule, Subject: step, Override: override})
}
