package parallel

import "io"

// large is the number of bytes from which Write starts goroutines. To compute
// the digest of fewer bytes takes less time than to start a goroutine.
const large = 32 << 10

// Write writes p to all writers, and ignores their errors. If p is large, the
// writers receive it at the same time. They must not change p.
func Write[W io.Writer](p []byte, all []W) {
	if len(p) < large || len(all) < 2 {
		for _, w := range all {
			w.Write(p)
		}
		return
	}
	Do(len(all), len(all), func(i int) { all[i].Write(p) })
}
