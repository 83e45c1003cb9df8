package proxy

import "context"

type directKey struct{}

// Direct returns a context in which servers of the configuration, such as a KDC,
// are reached without a proxy.
func Direct(ctx context.Context) context.Context { return context.WithValue(ctx, directKey{}, true) }

// IsDirect reports whether Direct returned ctx or one of its parents.
func IsDirect(ctx context.Context) bool { return ctx.Value(directKey{}) != nil }

type configuredKey struct{}

// Configured returns a context in which every address counts as a server of the
// configuration, such as a KDC that makes a token for a proxy.
func Configured(ctx context.Context) context.Context {
	return context.WithValue(ctx, configuredKey{}, true)
}

// IsConfigured reports whether Configured returned ctx or one of its parents.
func IsConfigured(ctx context.Context) bool { return ctx.Value(configuredKey{}) != nil }

type namesKey struct{}

// WithNames returns a context in which a proxy may resolve the name of a public
// server that the user entered, as it may for a link.
func WithNames(ctx context.Context) context.Context { return context.WithValue(ctx, namesKey{}, true) }

// HasNames reports whether WithNames returned ctx or one of its parents.
func HasNames(ctx context.Context) bool { return ctx.Value(namesKey{}) != nil }
