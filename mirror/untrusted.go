package mirror

import (
	"fmt"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// leaveUntrusted leaves the item of v pending for a run whose seeds the user
// enters, because the Policy has denied its URL with err.
func (c *crawl) leaveUntrusted(v *visit, err error) *visit {
	c.denied.LoadOrStore(v.item.Host, withoutURL(err))
	c.untrusted.Add(1)
	return v.fail(visitUntrusted, err)
}

// deniedBefore returns the error of an earlier visit to the host of v, if the
// Policy denied that visit and would deny v for the same reason. Then v needs no
// lookup of the host.
func (c *crawl) deniedBefore(v *visit) error {
	known, ok := c.denied.Load(v.item.Host)
	if !ok {
		return nil
	}
	if err := known.(error); c.trust.needsTypedSeed(v, err) {
		return err
	}
	return nil
}

// untrustedError returns an error if the Policy denied pending URLs because the
// user did not enter their seeds. The run does not end, so that a call with the
// seeds continues it.
func (c *crawl) untrustedError() error {
	n := c.untrusted.Load()
	if n == 0 {
		return nil
	}
	pending := fmt.Sprintf("%d pending URLs", n)
	if n == 1 {
		pending = "a pending URL"
	}
	return fetch.Denied.Errorf("the policy denied %s, because it trusts only URLs of the command line: %s", pending, c.typeSeeds())
}

// typeSeeds returns a text that advises the user to enter the seeds.
func (c *crawl) typeSeeds() string {
	const shown = 3
	var seeds []string
	for _, u := range c.o.Seeds[:min(len(c.o.Seeds), shown)] {
		seeds = append(seeds, u.String())
	}
	if n := len(c.o.Seeds) - shown; n > 0 {
		seeds = append(seeds, fmt.Sprintf("and %d more", n))
	}
	return "repeat the run with " + strings.Join(seeds, " ")
}
