// Package zst compresses WARC files with zstd. It is not part of package warc, so
// that other programs do not link the compressor. Package warc reads such files
// in any case.
package zst

import (
	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/warc"
)

// window is the window size of the frames. It limits the memory of programs that
// read them.
const window = 1 << 20

// New returns the value of warc.Options.Zstd for one [warc.Writer].
func New() (warc.Compressor, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window))
}
