// Package mirror brings whole sites into an archive that stays true after a
// crash: every object whole or not at all, each once, over every scheme.
package mirror
