package parallel

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestWrite writes to several writers, at the same time if the bytes are many.
func TestWrite(t *testing.T) {
	for _, test := range []struct {
		name          string
		size, writers int
		want          time.Duration // if each call takes a second
	}{
		{"nothing", large, 0, 0},
		{"one writer", large, 1, time.Second},
		{"few bytes", large - 1, 3, 3 * time.Second},
		{"many bytes", large, 3, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := bytes.Repeat([]byte("x"), test.size)
			began := time.Now()
			all := make([]bytes.Buffer, test.writers)
			var slow []io.Writer
			for i := range all {
				slow = append(slow, writer(func(p []byte) (int, error) {
					time.Sleep(time.Second)
					return all[i].Write(p)
				}))
			}
			Write(p, slow)
			if took := time.Since(began); took != test.want {
				t.Errorf("%s: %v, want %v", test.name, took, test.want)
			}
			for i := range all {
				if !bytes.Equal(all[i].Bytes(), p) {
					t.Errorf("%s: writer %d has %d bytes", test.name, i, all[i].Len())
				}
			}
		})
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
