package fetch

import (
	"slices"

	"github.com/anyurl/fetch/fetch/override"
)

// checkReferral returns an error if documents of the scheme source must not
// link to the scheme target at the given port.
func (p *Policy) checkReferral(source, target *Scheme, port uint16) error {
	reject := func(rule string, setting override.Setting) error {
		r := &Refusal{Rule: rule, Subject: source.Name + " to " + target.Name}
		return BadReferral.With(override.With(r, setting))
	}
	downgrade := slices.Contains(source.Links.Downgrade, target.Name)
	switch {
	case target.isConfined() && !target.allowsSource(source):
		return reject("URLs of this scheme must come from the user", override.Setting{})
	case downgrade && !p.Downgrade:
		return reject(source.Name+" document led to "+target.Name, override.Setting{Kind: override.Downgrade})
	case !downgrade && !slices.Contains(source.Links.To, target.Name) && !p.allowsRedirect(target.Name):
		return reject("a server led to another scheme", override.Setting{Kind: override.Redirects, Value: target.Name})
	case source.Links.OwnPort && source.Name != target.Name && port != target.Port:
		return reject("referral to a port that is not the scheme's own", override.Setting{})
	case p.RedirectsOnly != nil && !slices.Contains(p.RedirectsOnly, target.Name):
		return reject("a server led to a scheme that is not allowed", override.Setting{Kind: override.Redirects, Value: target.Name})
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
