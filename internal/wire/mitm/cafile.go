package mitm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// maxFile is the maximum size of the file of a CA in bytes.
const maxFile = 64 << 10

// OpenCA reads the certificate and the key of a CA from a file. If the file does
// not exist, OpenCA creates a CA and the file, which only the user may read. It
// creates missing directories too. It returns an error if other users may read
// the file, or if the certificate is not valid at the time now.
func OpenCA(file string, now time.Time) (*CA, error) {
	ca, err := readCA(file, now)
	if !errors.Is(err, fs.ErrNotExist) {
		return ca, err
	}
	ca, err = NewCA(now)
	if err != nil {
		return nil, err
	}
	err = ca.create(file)
	if errors.Is(err, fs.ErrExist) { // another process has created it
		return readCA(file, now)
	}
	return ca, err
}

func readCA(file string, now time.Time) (*CA, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", file)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s contains a private key, and other users may read it: its mode must be 0600", file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	ca, err := decodeCA(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is not the file of a CA: %w", file, err)
	case now.Before(ca.cert.NotBefore) || now.Add(backdate).After(ca.cert.NotAfter):
		return nil, fmt.Errorf("the CA in %s is valid until %s: delete the file to create another CA",
			file, ca.cert.NotAfter.Format(time.DateOnly))
	}
	return ca, nil
}

// create writes the CA to a new file. The file appears only when it is complete.
// If it exists already, the error wraps fs.ErrExist.
func (ca *CA) create(file string) (err error) {
	text, err := ca.encode()
	if err != nil {
		return err
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".fetch-ca-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), file) // does not replace a file
}
