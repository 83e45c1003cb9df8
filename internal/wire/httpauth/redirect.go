package httpauth

import "context"

type redirectedKey struct{}

// Redirected returns a context for a request that a redirect or a link has led
// away from the origin of the URL that the user entered.
func Redirected(ctx context.Context) context.Context {
	return context.WithValue(ctx, redirectedKey{}, true)
}

// IsRedirected reports whether Redirected returned ctx or one of its parents.
func IsRedirected(ctx context.Context) bool { return ctx.Value(redirectedKey{}) != nil }
