package browser

// Kill kills the process of the browser.
func Kill(b *Browser) {
	b.mu.Lock()
	in := b.current
	b.mu.Unlock()
	in.process.Kill()
}

// KillPage crashes the processes of all pages of the browser.
func KillPage(b *Browser) {
	b.mu.Lock()
	in := b.current
	b.mu.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range in.contexts {
		go p.call(p.ctx, "Page.crash", nil, nil)
	}
}

// PID returns the identifier of the process of the browser.
func PID(b *Browser) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current.process.PID()
}
