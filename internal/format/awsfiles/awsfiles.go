// Package awsfiles reads access keys and the region for S3 servers from the
// environment and from the files of the AWS command line tools.
package awsfiles

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// maxFile is the maximum size of a shared file in bytes.
const maxFile = 1 << 20

// An AccessKey signs requests. The zero AccessKey is no key.
type AccessKey struct {
	ID     string
	Secret fetch.Secret
	Token  fetch.Secret // of a temporary key, or ""
}

// IsZero reports whether k is no key.
func (k AccessKey) IsZero() bool { return k.ID == "" || k.Secret == "" }

// ErrNoKey means that neither the environment nor a file has an access key.
var ErrNoKey = fetch.Auth.Errorf("no access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or store it in ~/.aws/credentials")

// ReadKey returns the access key in the environment, or the key of the profile
// AWS_PROFILE in the shared credentials file. Other programs replace temporary
// keys in the file before they expire, so callers should not cache the key for
// a long time. The error is [ErrNoKey] if there is no key.
func ReadKey(getenv func(string) string) (AccessKey, error) {
	key := AccessKey{getenv("AWS_ACCESS_KEY_ID"), fetch.Secret(getenv("AWS_SECRET_ACCESS_KEY")), fetch.Secret(getenv("AWS_SESSION_TOKEN"))}
	if !key.IsZero() {
		return key, nil
	}
	name := fileName(getenv, "AWS_SHARED_CREDENTIALS_FILE", "credentials")
	profile := cmp.Or(getenv("AWS_PROFILE"), "default")
	values, found, err := readProfile(name, profile)
	if err != nil || !found {
		return AccessKey{}, cmp.Or(err, ErrNoKey)
	}
	key = AccessKey{values["aws_access_key_id"], fetch.Secret(values["aws_secret_access_key"]), fetch.Secret(values["aws_session_token"])}
	if key.IsZero() {
		return AccessKey{}, fetch.Auth.Errorf("%s has no access key for the profile %q", name, profile)
	}
	return key, nil
}

// ReadRegion returns the region in the environment, or the region of the profile
// AWS_PROFILE in the shared configuration file. It returns "" if neither has a
// region.
func ReadRegion(getenv func(string) string) (string, error) {
	if region := cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")); region != "" {
		return region, nil
	}
	section := "default"
	if profile := getenv("AWS_PROFILE"); profile != "" && profile != section {
		section = "profile " + profile
	}
	values, _, err := readProfile(fileName(getenv, "AWS_CONFIG_FILE", "config"), section)
	return values["region"], err
}

// fileName returns the name of a shared file, or "".
func fileName(getenv func(string) string, variable, base string) string {
	if name := getenv(variable); name != "" {
		return name
	}
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".aws", base)
}

// readProfile returns the settings in a section of a shared file. The result
// found is false if there is no file.
func readProfile(name, section string) (values map[string]string, found bool, err error) {
	if name == "" {
		return nil, false, nil
	}
	f, err := regularfile.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fetch.Local.With(err)
	}
	defer f.Close()
	if values, err = parseSection(f, section); err != nil {
		return nil, true, fetch.Local.With(&os.PathError{Op: "read", Path: name, Err: err})
	}
	return values, true, nil
}

// parseSection returns the settings of a section. A line is the name of a
// section in square brackets, a comment, or NAME = VALUE. Lines that are
// indented belong to nested settings and are skipped.
func parseSection(r io.Reader, section string) (map[string]string, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(io.LimitReader(r, maxFile))
	inSection := false
	for lines.Scan() {
		line := lines.Text()
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "["); ok {
			title, _, _ = strings.Cut(title, "]")
			inSection = strings.Join(strings.Fields(title), " ") == section
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if inSection && ok && strings.TrimLeft(line, " \t") == line {
			values[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return values, lines.Err()
}
