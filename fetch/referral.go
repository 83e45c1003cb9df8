package fetch

import (
	"slices"

	"github.com/anyurl/fetch/fetch/override"
)

// checkReferral returns an error if documents of the scheme source must not
// link to the scheme target at the given port.
func (p *Policy) checkReferral(source, target *Scheme, port uint16) error {
	step := source.Name + " to " + target.Name
	downgrade := slices.Contains(source.Links.Downgrade, target.Name)
	switch {
	case target.isConfined() && !target.allowsSource(source):
		return rejectReferral("URLs of this scheme must come from the user", step, override.Setting{})
	case downgrade && !p.Downgrade:
		return rejectReferral(source.Name+" document led to "+target.Name, step, override.Setting{Kind: override.Downgrade})
	case !downgrade && !slices.Contains(source.Links.To, target.Name) && !p.allowsRedirect(target.Name):
		return rejectReferral("a server led to another scheme", step, override.Setting{Kind: override.Redirects, Value: target.Name})
	case source.Links.OwnPort && source.Name != target.Name && port != target.Port:
		return rejectReferral("referral to a port that is not the scheme's own", step, override.Setting{})
	case p.RedirectsOnly != nil && !slices.Contains(p.RedirectsOnly, target.Name):
		return rejectReferral("a server led to a scheme that is not allowed", step, override.Setting{Kind: override.Redirects, Value: target.Name})
	}
	return nil
}

func (p *Policy) allowsRedirect(scheme string) bool {
	return slices.Contains(p.Redirects, scheme) || slices.Contains(p.Redirects, "*")
}

func (s *Scheme) isConfined() bool { return s.Links.Confined || s.Local }

// allowsSource reports whether documents of the scheme source may link to the
// scheme s, which is confined. Links.To of source and Links.From of s must both
// allow the link.
func (s *Scheme) allowsSource(source *Scheme) bool {
	return slices.Contains(s.Links.From, source.Name) && slices.Contains(source.Links.To, s.Name)
}

func rejectReferral(rule, step string, setting override.Setting) error {
	return BadReferral.With(override.With(&Refusal{Rule: rule, Subject: step}, setting))
}
