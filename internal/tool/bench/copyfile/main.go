// Copyfile writes a file to standard output. It is the rival of fetch in the
// benchmark case that measures the start of a process, because hardly any Go
// program does less.
package main

import (
	"io"
	"os"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err == nil {
		_, err = io.Copy(os.Stdout, f)
	}
	if err != nil {
		os.Exit(1)
	}
}
