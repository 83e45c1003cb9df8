package console

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// shutdownTime is the time after a signal until the process is forced to exit.
// A write to a pipe can block forever, because it cannot be canceled.
const shutdownTime = time.Second

// holdTime is the time for which Hold can delay the forced exit.
const holdTime = 20 * time.Second

// repeatTime is the time after a signal in which further signals are ignored.
// The command timeout(1) sends each signal twice: to the process and to its
// group.
const repeatTime = shutdownTime / 10

// Interruptible returns a context that is canceled by SIGINT, SIGTERM and
// SIGHUP. A second signal ends the process. If own has a function, SIGINT calls
// the function instead. SIGHUP is ignored if it was ignored when the process
// started, as nohup(1) does.
func Interruptible(own *Interrupts) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt && own.handle() {
					continue
				}
				cancel(signalError{s.(syscall.Signal)})
				time.AfterFunc(repeatTime, func() { signal.Stop(signals) })
				time.AfterFunc(own.shutdownTime(), func() {
					own.waitForRelease()
					os.Exit(128 + int(s.(syscall.Signal)))
				})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
	}
}

// Interrupts contains the function that SIGINT calls. The zero value has no
// function, so that SIGINT ends the command. It is safe for concurrent use.
type Interrupts struct {
	mu       sync.Mutex
	do       func()
	grace    time.Duration // time that the command needs to finish after a signal
	holds    int           // calls of Hold without release
	released chan struct{} // closed when holds becomes 0
}

// Hold delays the forced exit after a signal until the caller calls release, at
// most by holdTime. A command calls Hold while it has data that it can still save
// after a signal. On a slow machine, this can take several seconds.
func (i *Interrupts) Hold() (release func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.holds++; i.holds == 1 {
		i.released = make(chan struct{})
	}
	return sync.OnceFunc(func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.holds--; i.holds == 0 {
			close(i.released)
		}
	})
}

// waitForRelease waits until each caller of Hold has called release, and then for
// the time that the messages of the command need. It returns at once if no caller
// of Hold remains.
func (i *Interrupts) waitForRelease() {
	end := time.After(holdTime)
	for {
		i.mu.Lock()
		holds, released := i.holds, i.released
		i.mu.Unlock()
		if holds == 0 {
			return
		}
		select {
		case <-released:
			time.Sleep(shutdownTime)
		case <-end:
			return
		}
	}
}

// SetGrace delays the forced exit after a signal by the duration grace.
func (i *Interrupts) SetGrace(grace time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.grace = grace
}

// shutdownTime returns the time after a signal until the process is forced to
// exit.
func (i *Interrupts) shutdownTime() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.grace + shutdownTime
}

// Set sets the function that SIGINT calls, or removes it if do is nil.
func (i *Interrupts) Set(do func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.do = do
}

// handle calls the function that was passed to set. It reports whether there is
// one.
func (i *Interrupts) handle() bool {
	i.mu.Lock()
	do := i.do
	i.mu.Unlock()
	if do != nil {
		do()
	}
	return do != nil
}
