package proxy

import "context"

type directKey struct{}

// Direct returns a context in which servers of the configuration, such as a KDC,
// are reached without a proxy.
func Direct(ctx context.Context) context.Context { return context.WithValue(ctx, directKey{}, true) }

// IsDirect reports whether Direct returned ctx or one of its parents.
func IsDirect(ctx context.Context) bool { return ctx.Value(directKey{}) != nil }
