//go:build !linux || !amd64

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "tracer: operation not permitted: this system is not supported")
	os.Exit(1)
}
