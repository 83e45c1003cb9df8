//go:build soak

package report

// scope is the scope of all figures of this build.
const scope = "soak"
