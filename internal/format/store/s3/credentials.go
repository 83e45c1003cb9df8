package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/anyurl/fetch/internal/format/awsfiles"
)

// credentials reads the access key for S3 from the environment or from the
// shared credentials file, like the AWS command line tools.
type credentials struct{ getenv func(string) string }

// Retrieve returns the access key. It reads the file each time, because other
// programs replace temporary keys in the file before they expire.
func (c credentials) Retrieve(context.Context) (aws.Credentials, error) {
	key, err := awsfiles.ReadKey(c.getenv)
	if err != nil {
		return aws.Credentials{}, err
	}
	return aws.Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret.Reveal(), SessionToken: key.Token.Reveal()}, nil
}
