//go:build !linux

package chromium

// Child has no effect on this system.
func Child() {}

// An account is the user that runs the browser, which is always the user of this
// process.
type account struct{}

func userOf(*Options) (account, error) { return account{}, nil }

func (account) own(string) error { return nil }

// run starts the program without a network namespace. The flags of the browser
// are the only isolation.
func (p *Process) run(o *Options, _ account) (err error) {
	if p.Listeners, err = listen(o.Listeners, 0); err != nil {
		return err
	}
	first := deadProxy
	if len(p.Listeners) > 0 {
		first = Proxy(p.Listeners[0])
	}
	p.cmd.Args = append([]string{p.cmd.Path}, p.arguments(o, first)...)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	return nil
}

// Kill ends the browser, whose child processes then end too.
func (p *Process) Kill() { p.cmd.Process.Kill() }
