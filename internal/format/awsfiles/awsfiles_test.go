package awsfiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestReadKey checks the sources of the access key.
func TestReadKey(t *testing.T) {
	home := t.TempDir()
	name := filepath.Join(home, ".aws", "credentials")
	text := "# comment\n[default]\naws_access_key_id = one\naws_secret_access_key=x=y\n\n[ other ]\r\nAWS_ACCESS_KEY_ID=two\r\n" +
		"aws_secret_access_key = z\r\naws_session_token = t\r\ns3 =\n  aws_access_key_id = nested\n[half]\naws_access_key_id=three\n"
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		want string // key, secret and token, or the text of an error
	}{
		{"environment", map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c", "HOME": home}, "a b c"},
		{"half an environment", map[string]string{"AWS_ACCESS_KEY_ID": "a", "HOME": home}, "one x=y "},
		{"profile", map[string]string{"HOME": home, "AWS_PROFILE": "other"}, "two z t"},
		{"file", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": name}, "one x=y "},
		{"half a profile", map[string]string{"HOME": home, "AWS_PROFILE": "half"}, "no access key"},
		{"unknown profile", map[string]string{"HOME": home, "AWS_PROFILE": "none"}, "no access key"},
		{"missing file", map[string]string{"HOME": filepath.Dir(name)}, "no access key"},
		{"nothing", nil, "no access key"},
	} {
		key, err := ReadKey(func(name string) string { return c.env[name] })
		got := strings.Join([]string{key.ID, key.Secret.Reveal(), key.Token.Reveal()}, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (fetch.FaultOf(err) != fetch.Auth || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
