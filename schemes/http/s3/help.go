package s3

// help is the help text about s3 URLs.
const help = `s3://BUCKET/KEY[?versionId=ID]   objects of S3 servers

The URL of a listing ends in "/": fetch ls s3://BUCKET/PREFIX/ lists the objects
and the common prefixes. Special characters in KEY are percent-encoded.
--s3-endpoint URL or AWS_ENDPOINT_URL_S3 names the server, such as
https://HOST:PORT. The default is AWS. --s3-region, AWS_REGION and ~/.aws/config
name the region (default us-east-1). AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
or the profile AWS_PROFILE in ~/.aws/credentials, sign the requests. Without a
key, and with --s3-anonymous, requests are not signed.
Redirects to other servers are not followed. Documents of other schemes cannot
link to s3 URLs.`
