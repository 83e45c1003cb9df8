package s3

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// maxCredentials is the maximum size of the shared credentials file.
const maxCredentials = 1 << 20

// credentials reads the access key for S3 from the environment or from the
// shared credentials file, like the AWS command line tools.
type credentials struct{ getenv func(string) string }

// Retrieve returns the access key. It reads the file each time, because other
// programs replace temporary keys in the file before they expire.
func (c credentials) Retrieve(context.Context) (aws.Credentials, error) {
	key := aws.Credentials{
		AccessKeyID:     c.getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: c.getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    c.getenv("AWS_SESSION_TOKEN"),
	}
	if key.HasKeys() {
		return key, nil
	}
	profile := cmp.Or(c.getenv("AWS_PROFILE"), "default")
	name := c.getenv("AWS_SHARED_CREDENTIALS_FILE")
	if home := cmp.Or(c.getenv("HOME"), c.getenv("USERPROFILE")); name == "" && home != "" {
		name = filepath.Join(home, ".aws", "credentials")
	}
	missing := fetch.Auth.Errorf("no access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or store it in ~/.aws/credentials")
	if name == "" {
		return aws.Credentials{}, missing
	}
	f, err := regularfile.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return aws.Credentials{}, missing
	}
	if err != nil {
		return aws.Credentials{}, fetch.Local.With(err)
	}
	defer f.Close()
	if key, err = readProfile(f, profile); err != nil {
		return key, fetch.Local.With(&os.PathError{Op: "read", Path: name, Err: err})
	}
	if !key.HasKeys() {
		return key, fetch.Auth.Errorf("%s has no access key for the profile %q", name, profile)
	}
	return key, nil
}

// readProfile returns the access key of a profile in a shared credentials file.
// A line is a profile name in square brackets, a comment, or NAME = VALUE.
// Lines that are indented belong to nested settings and are skipped.
func readProfile(r io.Reader, profile string) (key aws.Credentials, err error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxCredentials))
	inProfile := false
	for lines.Scan() {
		line := lines.Text()
		if section, ok := strings.CutPrefix(strings.TrimSpace(line), "["); ok {
			section, _, _ = strings.Cut(section, "]")
			inProfile = strings.TrimSpace(section) == profile
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !inProfile || !ok || strings.TrimLeft(line, " \t") != line {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "aws_access_key_id":
			key.AccessKeyID = value
		case "aws_secret_access_key":
			key.SecretAccessKey = value
		case "aws_session_token":
			key.SessionToken = value
		}
	}
	return key, lines.Err()
}
