package plaintext

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRedact(t *testing.T) {
	hex := strings.Repeat("0a1B2c3D", 8)
	for in, want := range map[string]string{
		"key sk-" + hex[:24] + " set":                           "key sk-" + stars(24) + " set",
		"sk-ant-" + hex[:30]:                                    "sk-" + stars(34),
		"ghp_" + hex[:36] + ".":                                 "ghp_" + stars(36) + ".",
		"github_pat_" + hex[:22]:                                "github_pat_" + stars(22),
		"glpat-" + hex[:20]:                                     "glpat-" + stars(20),
		"id AKIA0123456789ABCDEF":                               "id AKIA" + stars(16),
		`aws_secret_access_key = "` + hex[:40] + `"`:            `aws_secret_access_key = "` + stars(40) + `"`,
		"AIza" + hex[:35]:                                       "AIza" + stars(35),
		"xoxb-1234567890-abc":                                   "xoxb-" + stars(14),
		"sk_live_" + hex[:24]:                                   "sk_live_" + stars(24),
		"npm_" + hex[:36]:                                       "npm_" + stars(36),
		"hf_" + hex[:34]:                                        "hf_" + stars(34),
		"jwt eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.sig":             "jwt eyJ" + stars(len("hbGciOiJIUzI1.eyJzdWIiOiIxMjM0.sig")),
		"Authorization: Bearer abc123def456ghi789":              "Authorization: Bearer " + stars(18),
		"postgres://app:s3cr3t@db:5432/x":                       "postgres://app:" + stars(6) + "@db:5432/x",
		"redis://:pässword@h":                                   "redis://:" + stars(len("pässword")) + "@h",
		"OPENAI_API_KEY=abcdefgh1 go run .":                     "OPENAI_API_KEY=" + stars(9) + " go run .",
		`DB_PASSWORD="hunter2hunter2"`:                          `DB_PASSWORD="` + stars(14) + `"`,
		"postgres: user=app password=correcthorse port=5432":    "postgres: user=app password=" + stars(12) + " port=5432",
		"-----BEGIN RSA PRIVATE KEY-----\nMI\now\n-----END RSA": "-----BEGIN RSA PRIVATE KEY-----\n**\n**\n-----END RSA",
		"-----BEGIN PRIVATE KEY-----\nMIIE":                     "-----BEGIN PRIVATE KEY-----\n****",
		"password: hunter2":                                     "password: " + stars(7),
		`the password is "x7mQ2p", and`:                         `the password is "` + stars(6) + `", and`,
		`{"client_secret": "` + hex[:20] + `", "a": 1}`:         `{"client_secret": "` + stars(20) + `", "a": 1}`,
		"api_key: '" + hex[:20] + "'":                           "api_key: '" + stars(20) + "'",
		"token: " + hex[:40] + ".":                              "token: " + stars(41),
		"x-api-key: " + hex[:32]:                                "x-api-key: " + stars(32),
		"Cookie: sid=" + hex[:20] + "; a=b":                     "Cookie: sid=" + stars(20) + "; a=b",
		"Authorization: token " + hex[:20]:                      "Authorization: token " + stars(20),
		"//r.example/:_authToken=" + hex[:36]:                   "//r.example/:_authToken=" + stars(36),
		"--password Zx81Spectrum --user x":                      "--password " + stars(12) + " --user x",
		"curl -s -u admin:Zx81Spectrum https://x":               "curl -s -u admin:" + stars(12) + " https://x",
		"mysql -u root -pZx81Spectrum db":                       "mysql -u root -p" + stars(12) + " db",
		"machine x login bob password Zx81Spectrum":             "machine x login bob password " + stars(12),
		"https://x/?a=1&api_key=" + hex[:20] + "&b=2":           "https://x/?a=1&api_key=" + stars(20) + "&b=2",
		"https://x/?key=" + hex[:20]:                            "https://x/?key=" + stars(20),
		"https://x/?sv=1&sig=" + hex[:40] + "%3D":               "https://x/?sv=1&sig=" + stars(43),
		"https://" + hex[:20] + "@example.com/x":                "https://" + stars(20) + "@example.com/x",
		"https://discord.com/api/webhooks/123/" + hex[:40]:      "https://discord.com/api/webhooks/123/" + stars(40),
		"AccountKey=" + hex[:40] + "==;":                        "AccountKey=" + stars(42) + ";",
		"figd_" + hex[:40]:                                      "figd_" + stars(40),
		"dapi" + strings.Repeat("0af9", 8):                      "dapi" + stars(32),
		"our own hunter2hunter2, twice: hunter2hunter2":         "our own " + stars(14) + ", twice: " + stars(14),

		"nfp_" + hex[:40]:                                        "nfp_" + stars(40),
		"fo1_" + hex[:43]:                                        "fo1_" + stars(43),
		"EZAK" + hex[:54]:                                        "EZAK" + stars(54),
		"tvly-" + hex[:32]:                                       "tvly-" + stars(32),
		"M" + hex[:25] + ".G1x2y3." + hex[:38]:                   "M" + stars(25+8+38),
		"lsv2_pt_" + hex[:32] + "_" + hex[:10]:                   "lsv2_pt_" + stars(43),
		"xkeysib-" + hex[:40]:                                    "xkeysib-" + stars(40),
		"vcp_" + hex[:24]:                                        "vcp_" + stars(24),
		"re_" + hex[:8] + "_" + hex[:24]:                         "re_" + stars(33),
		"bkua_" + strings.Repeat("0af9", 10):                     "bkua_" + stars(40),
		"CCIPAT_" + hex[:40]:                                     "CCIPAT_" + stars(40),
		"sk.eyJ1" + hex[:40] + "." + hex[:22]:                    "sk.eyJ" + stars(64),
		"1//0" + hex[:40]:                                        "1//0" + stars(40),
		"oy2" + strings.ToLower(hex[:43]):                        "oy2" + stars(43),
		"pat" + hex[:14] + "." + strings.ToLower(hex):            "pat" + stars(79),
		strings.Repeat("0af9", 8) + "-us12":                      "0" + stars(36),
		"v1.0-" + strings.ToLower(hex[:24]+"-"+hex+hex+hex[:18]): "v1.0-" + stars(171),
		"pk_12345678_" + strings.ToUpper(hex[:32]):               "pk_" + stars(41),
		"Private-Lines: 2\nAAAA\nBB+=\nPrivate-MAC: 0":           "Private-Lines: 2\n****\n****\nPrivate-MAC: 0",
		"Passwort: Zx81Spectrum":                                 "Passwort: " + stars(12),
		"contraseña: Zx81Spectrum":                               "contraseña: " + stars(12),
		"Пароль: Zx81Spectrum":                                   "Пароль: " + stars(12),
		"密码：Zx81Spectrum":                                        "密码：" + stars(12),
		"mot de passe : Zx81Spectrum":                            "mot de passe : " + stars(12),
		"<password>Zx81Spectrum</password>":                      "<password>" + stars(12) + "</password>",
		"**Password:** `Zx81Spectrum`":                           "**Password:** `" + stars(12) + "`",
		"**Password**: Zx81Spectrum":                             "**Password**: " + stars(12),
		"| password | Zx81Spectrum |":                            "| password | " + stars(12) + " |",
		"sshpass -p Zx81Spectrum ssh x":                          "sshpass -p " + stars(12) + " ssh x",
		"docker login -u a -p Zx81Spectrum":                      "docker login -u a -p " + stars(12),
		"a:$apr1$" + hex[:8] + "$" + hex[:22]:                    "a:$apr1$" + stars(31),
		"JSESSIONID=" + hex[:32]:                                 "JSESSIONID=" + stars(32),
		"the test `Testghp_" + hex[:36] + "`":                    "the test `Testghp_" + stars(36) + "`",
		"MyAppglpat-" + hex[:20]:                                 "MyAppglpat-" + stars(20),

		"PRIVATE_KEY=\"-----BEGIN PRIVATE KEY-----\\nMIIEvA\\n-----END PRIVATE KEY-----\"": "PRIVATE_KEY=\"" + stars(62) + "\"",
		"SERVICE_TOKEN=Set-Cookie: sid=" + hex[:20]:                                        "SERVICE_TOKEN=" + stars(11) + " sid=" + stars(20),
		"AWS_SECRET_ACCESS_KEY=XPMgVFjenqZBAUabcd":                                         "AWS_SECRET_ACCESS_KEY=" + stars(18),
		"SECRET_KEY = 'jq-w&k2o)exe_y-8a*wps(d=q7'":                                        "SECRET_KEY = '" + stars(26) + "'",
		`{"password":"Go#ac24c$6y*3H*+E"}`:                                                 `{"password":"` + stars(17) + `"}`,
		`{\"password\":\"SFEB2x9Q\"}`:                                                      `{\"password\":\"` + stars(8) + `\"}`,
		"- API key: WPoR4hn6Nj6n7w0uLA04":                                                  "- API key: " + stars(20),
		"set -gx API_TOKEN Zx81Spectrum":                                                   "set -gx API_TOKEN " + stars(12),
		"setx DB_PASSWORD Zx81Spectrum":                                                    "setx DB_PASSWORD " + stars(12),
		"define('DB_PASSWORD', 'Zx81Spectrum')":                                            "define('DB_PASSWORD', '" + stars(12) + "')",
		`setPassword("Zx81Spectrum")`:                                                      `setPassword("` + stars(12) + `")`,
		`{"auth": "` + hex[:28] + `="}`:                                                    `{"auth": "` + stars(29) + `"}`,
		"client-key-data: " + hex[:40]:                                                     "client-key-data: " + stars(40),
		"DB_PASSWORD=uPIhhg+r$+RHoTVA":                                                     "DB_PASSWORD=" + stars(16),
		"https://x/?key=ab+/" + hex[:20] + "&p=1":                                          "https://x/?key=" + stars(24) + "&p=1",
		"The token is `" + hex[:24] + "`.":                                                 "The token is `" + stars(24) + "`.",
		"Das Passwort lautet Zx81Spectrum.":                                                "Das Passwort lautet " + stars(13),
		"ops_eyJ" + hex[:40]:                                                               "ops_eyJ" + stars(40),
		"dt0c01." + strings.Repeat("AB12", 6) + "." + strings.Repeat("AB12", 16):           "dt0c01." + stars(89),

		"DB_PASSWORD='tr0mb0ne &3 9Kx'":                      "DB_PASSWORD='" + stars(15) + "'",
		`PGPASSWORD="purple monkey dishwasher"`:              `PGPASSWORD="` + stars(24) + `"`,
		`password: "my c4stle k33p"`:                         `password: "` + stars(14) + `"`,
		`I used the admin password "Kw9zPq27Lm" to log in`:   `I used the admin password "` + stars(10) + `" to log in`,
		"the password “Kw9zPq27Lm”":                          "the password “" + stars(10) + "”",
		"the token `9f2Kd81Lq0Zx7` works":                    "the token `" + stars(13) + "` works",
		"db.example.com:5432:prod:admin:Zx81Spectrum":        "db.example.com:5432:prod:admin:" + stars(12),
		"*:*:5432:prod:admin":                                "",
		"密码是 Zx81Spectrum，请保管。":                              "密码是 " + stars(12) + "，请保管。",
		"パスワードはZx81Spectrumです":                               "パスワードは" + stars(12+len("です")),
		"Пароль — Zx81Spectrum.":                             "Пароль — " + stars(13),
		"Токен API: " + hex[:24]:                             "Токен API: " + stars(24),
		"La contraseña es Zx81Spectrum":                      "La contraseña es " + stars(12),
		"openssl enc -aes-256-cbc -k Zx81Spectrum -in x":     "openssl enc -aes-256-cbc -k " + stars(12) + " -in x",
		"openssl rsa -passin pass:Zx81Spectrum":              "openssl rsa -passin pass:" + stars(12),
		"zip -P Zx81Spectrum a.zip b":                        "zip -P " + stars(12) + " a.zip b",
		"redis-cli -a Zx81Spectrum ping":                     "redis-cli -a " + stars(12) + " ping",
		`API_KEY="your key here" PASSWORD="enter a new one"`: "",
		`password: "at least 8 characters, 1 digit"`:         "",
		`{"password": "hashed with argon2id"}`:               "",
		"the password `validateV2` and token `parseV2Name`":  "",
		"see main.c:1234:5:warning and 10:22:33:12":          "",
		"openssl enc -a -salt -in x; zip -r a.zip b":         "",

		`{"password": "uyjjgkgytf"}`: `{"password": "` + stars(10) + `"}`,
		"password: OKxHkHpPdYBD":     "password: " + stars(12),
		`password: "getUserPassword", {"password": "incorrect"}, pwd: 'workingDirectory'`: "",
		`{"password": "Adgangskode", "passwd": "Wachtwoord", "pwd": "Jelszó-mező"}`:       "",
		`password: "PasswordFieldExample" or 'strengths' or "BackgroundHashing"`:          "",
		`Password: s.cfg.Password, {"go/token", "\x04m\x83\x01>"}, "PWD="+pkgdir`:         "",
		`Password: testPostgreSQLPassword, CredentialsFile: "../testdata/sa_x.json"`:      "",
		"token: getTokenFromStorageBackend, secret: AbstractFactoryBeanProvider":          "",
		"apiKey: process.env.API_KEY_2, secretName: db-credentials-2":                     "",
		"password: required_if_new2 and secret: projects/my-app/secrets/db/vers/3":        "",
		"https://x/list?key=reports/2024/11/a.csv&order=asc":                              "",
		`get("token", "page-header-item-2") and set -x; setenv PATH /usr/local/b2`:        "",
		`password: "${DB_PASSWORD_2}", '{"password": "<your-password-1>"}'`:               "",
		"API key: see docs/keys.md#rotation; set token count 12":                          "",
		`{"auth": "basic1", "password": "string", "secret": "see-the-vault"}`:             "",

		"Fixed risk-assessment, task-force and the disk-usage-of-all-the-workers.": "",
		"basic authentication and bearer authentication are supported":             "",
		"see https://example.com:8080/a@b and mail@example.com":                    "",
		"https://user@example.com/path:x@y":                                        "",
		"password=form.Value(name) or pwd=$HOME":                                   "",
		"AKIA is a prefix; ghp_short":                                              "",
		"commit 3f2a9bc, sha256 " + hex:                                            "",
		"export API_KEY=$OTHER_KEY and TOKEN=<your token>":                         "",
		"the password field is required; passwords: at least 8 characters":         "",
		"cat password | sha256sum | cut -c1-8; docker login -u a; sshpass -p $P x": "",
		"Made re_compile_all_patterns1 and patch.go; M.N.O; v1.0-rc1; pk_id; 1//0": "",
		"la passe: 3 buts; Passwort: erforderlich; <password>string</password>":    "",
		"my_sk_test_runner, task-ant-colony, 0af9b2c (a commit), e-us1":            "",
		"secrets: inherit; token: string; apiKey: process.env.API_KEY":             "",
		"s.parseTheWholeDocumentAgain(x); sk-learn-pipeline":                       "",
		"curl -u $USER:$PASS https://x; mysql -p; docker run -p 8080:8080":         "",
		"cache key: user; primary key=id; pwd=/home/user1":                         "",
		"token := parser.next(); key == value; MAX_TOKENS=4096":                    "",
		"": "",
	} {
		if want == "" {
			want = in
		}
		got := Redact(in, "hunter2hunter2", "short", "")
		if got != want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", in, got, want)
		}
		if again := Redact(got, "hunter2hunter2"); again != got {
			t.Errorf("Redact(%q) = %q is not stable", got, again)
		}
	}
}

// A key is masked wherever it stands in a word, and whatever stands in it that nobody sees.
func TestRedactInsideWords(t *testing.T) {
	const hex, upper, mixed = "9f86d081884c7d659a2feaa0c55ad015", "Q7ZK2M4XW9AB3CD8", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7"
	for _, key := range []string{
		"ghp_" + mixed[:36], "AKIA" + upper, "ASIA" + upper, "AIza" + mixed[:35], "hf_" + mixed[:34], "dop_v1_" + hex + hex,
		"SG." + mixed[:22] + "." + mixed, "sk-proj-" + mixed, "sk-or-v1-" + hex + hex, "sk-" + mixed, "hvs." + mixed,
		"gsk_" + mixed, "npm_" + mixed[:36], "pypi-" + mixed, "GOCSPX-" + mixed[:28], "key-" + hex, "SK" + hex, "dapi" + hex,
		hex + "-us12", "sbp_" + hex + hex[:8], "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + mixed, "xapp-1-A" + upper,
	} {
		want := key[12:18]
		for _, before := range []string{
			"-", "t-", "conf-", "creds_", "x", "key", "é", "start\\n", "%3D", "\\u003d", "v2-", "m.", "--key-",
		} {
			for _, after := range []string{"", ".json", "_1", "-x", "xyz", "\\n"} {
				if got := Redact("z " + before + key + after + " end"); strings.Contains(got, want) {
					t.Errorf("%q behind %q: %q", key, before, got)
				}
			}
		}
		for _, hidden := range []string{"\x1b[31m", "\u200b", "\u00ad", "\x1b]0;title\a"} {
			text := "see " + key[:7] + hidden + key[7:] + " end"
			got := Redact(text)
			if strings.Contains(got, want) || len(got) != len(text) || !strings.HasSuffix(got, " end") {
				t.Errorf("Redact(%q) = %q", text, got)
			}
		}
	}
}

func TestRedactHarmless(t *testing.T) {
	const sum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for _, s := range []string{
		"b3f1c2d", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"550e8400-e29b-41d4-a716-446655440000", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"commit 4f2a9c1e5b7d8f0a1c2b3d4e5f60718293a4b5c6",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "SGVsbG8gd29ybGQ=",
		"parser_token_test.go", "internal/auth/password_reset.go", "TestTokenExpiry",
		"func NewSecretStore(key string) *Store", "The token is refreshed every hour.", "password reset works",
		"The password field is required", "max_tokens: 500", "tokens=1500", "token_count = 42", "key: value",
		"primary_key: id", "keyboard shortcut: Ctrl+K", "sk-learn is used", "sk-SK locale", "basic auth is used",
		"Bearer token is missing", "Authorization header is missing", "https://example.com/path?page=2&sort=name",
		"https://user@example.com/x", "main@{upstream}", "git@github.com:a/b.git", "npm_config_cache",
		"npm_lifecycle_event", "hf_hub_download", "ghp_ is the prefix", "v1.0.102-beta.3",
		"AKIA is the prefix of keys", "key-value store", "public key: ed25519", "secretKeyRef: name",
		"passwordless login works", "PASSWORD_MIN_LENGTH=12", "auth: enabled", "session=closed",
		"cookie: banner shown", "h1:Wf/SPVr1AFoMDBrYDwWrTJpBZCoLoTyV5M0tkpnkNOY=", "0xdeadbeefcafebabe",
		"node_modules/.bin/jest --token-limit", "The API key is read from the environment",
		`secret = os.Getenv("SECRET")`, "password: string;", "token: null", "const token = await getToken();",
		"apiKey: process.env.API_KEY", "${DB_PASSWORD}", "--password-file /run/x", "passwd: files systemd",
		"42 passed, 0 failed in 1.3s",
		"task-550e8400-e29b-41d4-a716-446655440000", "desk-" + sum[:32], "risk-" + sum, "cache-key-" + sum,
		"sha512-" + strings.Repeat("aB3/x+9", 12) + "==", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7aB3dE5fG7hI9jK1lM3nO5pQ7",
		"half_HalfOpenConnectionState2Test.java", "my-npm_lifecycle_script_for_the_tests_2", "disk-usage-of-node-12-in-zone-b3",
		"flask-sqlalchemy-migrations-of-2024-11.py", "parsers.parseTheWholeDocument12", "src/risk-assessment-v2-of-q3-2024.md",
		"function(e,t){return e.sk_1=t.hf_2,n.pat3=r8_4}", "SKU1234567890ABCDEF1234567890", "MONKEY=banana1234",
	} {
		if got := Redact(s); got != s {
			t.Errorf("Redact(%q) = %q", s, got)
		}
	}
}

// Of a secret that is short or has blanks, what stands beside it decides. The brackets are not part of the texts.
func TestRedactShort(t *testing.T) {
	for _, row := range []string{
		"Authorization: Basic ‹dXNlcjpwYXNzQkFTSUM=›", "curl -H 'Authorization: Basic ‹YWRtaW46c2VjcmV0›' https://x",
		"Authorization: Bearer ‹abcdefghijklmnopqrstuvwx›", `"Authorization": "Bearer ‹correcthorsebattery›"`,
		"Authorization: Basic ‹Ym9iOmh1bnRlcg==›", "proxy-authorization: basic ‹Ym9iOmh1bnRlcg==›",
		"authorization: token ‹abcdefabcdefabcdefab›", "postgres://bob:‹p@ssw0rd›@db.example/x",
		"postgres://bob:‹hunter@2›@db.example/x", "mysql://root:‹a@b@c›@localhost:3306/app",
		"https://bob:‹pa@ss›@host.example", "redis://:‹se@cret›@cache:6379",
		"https://x.example/?token=‹tokURLvalue123›", "https://x/?api_key=‹letmein99›",
		"https://x/?a=1&sig=‹AbCdEf12›", "https://x/?key=‹abc123def›", "https://x/?access_token=‹abcd1234›&x=1",
		"https://x/?a=b&apikey=‹k3yv4lue›", "https://x/?auth_token=‹zzTop99x›", "wss://x/ws?token=‹ab12cd34›",
		"https://x/?signature=‹9f8e7d6c›", "https://x/dl?X-Amz-Signature=‹9f8e7d6c5b4a›&x=1",
		"https://x/?password=‹hunter2›&u=bob", "https://x/?client_secret=‹s3cr3tvalue›",
		"https://x/?code=1&refresh_token=‹1b2c3d4e›", "x-api-key: ‹xapiKEY0123456›", "X-Api-Key: ‹3f9a1c77›",
		"curl -H 'x-api-key: ‹k3yv4lue›' https://x", "x-auth-token: ‹t0k3nv4l›", "X-Vault-Token: ‹s0m3t0k3n›",
		"api_key=‹letmein99›", `api_key = "‹letmein99›"`, `apiKey: "‹letmein99›"`, "apiKey: '‹k3yv4lue›',",
		`"apiKey": "‹abc123def›"`, "api-key: ‹abc123def4›", "client_secret=‹s3cr3tvalue›",
		`clientSecret: "‹s3cr3tvalue›"`, "client_secret: '‹abCD12efGH›'", "secret: ‹hunter2›",
		"secret: ‹s3cr3tvalue›", `secret = "‹my5ecret›"`, `"secret": "‹tr0ub4dor›"`, "pass: ‹hunter2›",
		`pass = "‹hunter2›"`, `"pass": "‹Tr0ub4dor›"`, "user: bob, pass: ‹hunter2›",
		"auth: { user: 'bob', pass: '‹hunter2›' }", "access_token: ‹ab12cd34ef›", `accessToken: "‹ab12cd34ef›"`,
		"refresh_token=‹1b2c3d4e5f›", `auth_token: "‹zz9top88›"`, "token: ‹ab12cd34›", "token = '‹gh0st99x›'",
		`"token": "‹ab12cd34›"`, `secret_key: "‹k3yv4lue99›"`, `private_key: "‹k3yv4lue99›"`,
		`encryption_key = "‹k3yv4lue99›"`, `password: "‹correct horse battery›"`,
		"password: '‹correct horse battery staple›'", `{"password": "‹correct horse battery›"}`,
		`{"user":"bob","password":"‹my dog likes pizza›"}`, `password = "‹hunter2 with space PW›"`,
		`"passphrase": "‹tiger lily ocean moon›"`, `passphrase: "‹correct horse battery›"`,
		"pwd='‹purple monkey dishwasher›'", `the password is "‹correct horse battery›"`,
		`{\"password\": \"‹correct horse battery›\"}`, "passphrase=‹Tr0ub4dor&3›", "password=‹Tr0ub4dor&3›",
		"passphrase: ‹Tr0ub4dor&3›", "DB_PASSWORD=‹hunter2eqPW!x›", "the password is: ‹hunter2›",
		"The password is: ‹Tr0ub4dor&3.›", "password was: ‹hunter2›", "My password's ‹hunter2›",
		"the admin password is now ‹hunter2›", "The new password is ‹hunter2.›", "Das Passwort ist: ‹hunter2›",
		"password for bob is ‹hunter2›", "the API key is: ‹k3yv4lue99›", "the token is ‹ab12cd34ef›",
		"echo ‹hunter2› | sudo -S ls", `echo "‹hunter2›" | sudo -S apt-get update`,
		"echo '‹my pass word›' | sudo -S ls", "echo ‹hunter2›|sudo -kS ls", "sudo -S ls <<< ‹hunter2›",
		`sudo -S ls <<<"‹hunter2›"`, "echo ‹hunter2› | docker login -u bob --password-stdin",
		`echo "$X" && echo ‹secretpw› | sudo -S ls`, "echo ‹hunter2› | passwd --stdin bob",
		"echo '‹bob:hunter2›' | chpasswd", "sk-‹proj-ujOeHwdFcAefAZhnM6Jy\nvX9eHwdFcAefAZhnM6Jz›",
		"key sk-‹proj-ujOeHwdFcAefAZhnM6Jy\n  vX9eHwdFcAefAZhnM6Jz› end",
		"sk-‹ant-api03-ujOeHwdFcAefAZhnM6JyujOeHwdFcAefAZhnM6Jy\nvX9eHwdFcAef-ZhnM6JzAA›",
		"export STRIPE_KEY=‹stripeKEYval0123›", "DATABASE_PASSWORD: ‹hunter2›",
		"spring.datasource.password=‹hunter2›", "ansible_become_pass: ‹hunter2›", "ansible_become_pass=‹hunter2›",
		"SMTP_PASS=‹hunter2›", `DB_PASS="‹hunter2›"`, "MYSQL_PWD=‹hunter2› mysql",
		"set the client secret to ‹k3yv4lue99›", "password set to ‹hunter2›", "I set the password to ‹hunter2.›",
		"changed the password to `‹Tr0ub4dor›`", "api_key:\n  ‹yamlKEYvalue0123456›", "--api-key ‹k3yv4lue›",
		"--token=‹ab12cd34›", "--client-secret=‹s3cr3tvalue›", "--secret-key ‹k3yv4lue99›",
		"--access-token ‹ab12cd34ef›", `app_secret: "‹abc123def›"`, "webhook_secret=‹abc123def›",
		"jwt_secret: '‹abc123def›'", "JWT_SECRET=‹mysupersecret›", "SECRET=‹abc12345›", "API_KEY: ‹abc12345›",
		`API_TOKEN: "‹abc12345›"`, "<password>‹hunter2›</password>", "<apiKey>‹abc12345›</apiKey>",
		"Cookie: session=‹abcdefgh12›",
	} {
		before, rest, _ := strings.Cut(row, "‹")
		secret, after, _ := strings.Cut(rest, "›")
		in, want := before+secret+after, before
		for _, r := range secret {
			if want += "*"; r == '\n' {
				want = want[:len(want)-1] + "\n"
			}
		}
		got := Redact(in)
		if got != want+after {
			t.Errorf("Redact(%q)\n got %q\nwant %q", in, got, want+after)
		}
		if again := Redact(got); again != got {
			t.Errorf("Redact(%q) = %q is not stable", got, again)
		}
	}
	for _, s := range []string{
		"token: string", "password: required", "apiKey: process.env.X", "apiKey: process.env.OPENAI_API_KEY",
		"the secret is to start early", "The token is refreshed every 15 minutes.", "the key is to test early",
		"pass: true", "api_key=None", "?token=<token>", "https://x/?token=<token>&api_key=YOUR_API_KEY",
		"https://x/?key=value&token=abc", "secret: ${{ secrets.X }}", "token: ${{ secrets.GITHUB_TOKEN }}",
		"pass: 12, fail: 3", "pass 12/15, fail 3", "--- PASS: TestParse2 (0.00s)", "PASS: TestFoo12",
		"pass: TestFoo2", "type Config struct { Token string; APIKey string; Secret []byte }",
		"token: Option<String>,", "pub secret: [u8; 32],", "token?: string | undefined;",
		"private readonly secret: Buffer;", "password: z.string().min(8)", "api_key: str = Field(default=None)",
		"api_key: Optional[str] = None", "secret: SecretStr", "token = lexer.next()", "token := parser2.next()",
		"const token = await getToken2();", `secret = os.environ["SECRET"]`, "token=$TOKEN",
		"api_key = config.api_key_v2", "self.api_key = api_key2", "token = tokens[i2]", "tok = token.value2",
		"token_type: bearer", "token: oauth2", "algorithm: sha256, secret: sha256", "credential: x509",
		"access_key: AWS_ACCESS_KEY_ID", "secret: secret1", "token: token123", `token="test-token"`,
		"secretName: db-credentials-2", "secretRef: prod2db", "tokenizer: gpt2", "tokenizer_path=llama2/7b-chat",
		"Bearer authentication is required", "Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN}",
		"Authorization: Bearer YOUR_ACCESS_TOKEN", "Authorization: Bearer your-token-here",
		"Authorization: Bearer token", "Authorization: Basic auth is used here",
		"authorization: basic authentication support", "Authorization: Bearer scheme",
		"headers: { Authorization: `Bearer ${token}` }", "Set the Authorization header to Bearer accessToken",
		"The Authorization: key handling changed", "https://example.com:8080/a@b", "npm i @scope/pkg@1.2.3",
		"git clone ssh://git@github.com:22/a/b.git", "http://localhost:3000/users/@me",
		"http://localhost:3000 and bob@example.com", "https://host:8443/x?mail=bob@example.com",
		"echo done | tee log.txt", `echo "$PASSWORD" | sudo -S ls`, "echo $PW | docker login --password-stdin",
		"printf '%s\n' \"$X\" | sudo -S true", "cat pw | sudo -S ls", "echo hello | sudo tee /etc/x",
		"echo a b c | xargs sudo -S", `password: "Password must be 8 chars"`,
		`password: "at least 8 characters, 1 digit"`, `{"password": "hashed with argon2id"}`,
		`"password": "Mot de passe"`, `"password": "New password"`, `"password": "Enter your password"`,
		`"password": "forgot your password?"`, `password: "passwords do not match"`, `password: "string, optional"`,
		"password: 'must contain a number'", `the password is "required when empty"`,
		"The password is reset to its default value", "Changed the password to use argon2id",
		"the password is set to expire", "token to v2", "Reset the token to step2", "the token is v2 now",
		"the secret is base64", "Set the token to `nil`", "set the secret to an env var", "pass: ok", "pass = i18n",
		"bypass: rule12", "compass: north12", "by pass: 3of5", "pass=8/8", "pass: 1.2s", "pass: 120ms",
		"pass: 2024-11-02", "Pass: fail", "passed: 12", `pass="${PASS}"`, "pass: ctx.pass2",
		"secret: vault:kv/data/app2", "token: ./tok2.txt", "secrets: inherit", "key=value1234", "?key=item12345",
		"?sort=key&key=created2024", "https://x/?sig=...&token=…", "https://x/?token=string",
		"https://x/?page=2&sort=name1234", "https://x/list?key=reports/2024/11/a.csv&order=asc",
		"https://x/?id=abc123&name=bob99", "cache_key=user1234", "token: 1024", "token = 3.14", "access_token: null",
		`"token": "string"`, `"apiKey": "apiKey2"`, `"secret": "see docs"`, `apiKey: "your-api-key-1"`,
		`api_key="<your key 1>"`, "api_key: {{ api_key2 }}", "api_key: !secret my_key2", "token: Test2Token",
		"private_key: id_ed25519", `private_key: "keys/id_rsa2.pem"`, `password = getpass.getpass("x")`,
		"Fixed pass: the parser handles utf8 now.", "tests pass: go1.26 and go1.25", "pass: go1.26", "pass: node18",
		"pass: linux/amd64", "pass: python3.12", "tests pass: 12passed", "token: 12.5k", "token: JWT (RS256)",
		"token: jwt.sign(payload2)", "secret: k8s", "secret to production2", "credential is cached2disk",
	} {
		if got := Redact(s); got != s {
			t.Errorf("Redact(%q) = %q", s, got)
		}
	}
}

func stars(n int) string { return strings.Repeat("*", n) }

func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"sk-0123456789abcdef", "a://b:c@d", "Bearer a1b2c3d4e5f6", "KEY=12345678", "-----BEGIN PRIVATE KEY-----x",
		"password: a1b2c3 token=a1b2c3d4e5f6a7b8 eyJaaaaaaaa.eyJaaaaaaaa", "curl -u a:b1b1b1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Redact(s)
		if len(got) != len(s) || Redact(got) != got {
			t.Errorf("Redact(%q) = %q", s, got)
		}
		for i := range len(s) {
			if got[i] != s[i] && got[i] != '*' {
				t.Errorf("Redact(%q) = %q", s, got)
			}
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("Fixed parser.go:12; task-force, https://example.com/a?b=c, basic tests pass. ", 220)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Redact(text)
	}
}

// endingContext ends when it was asked often enough.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// The context bounds the time, whatever the text: it is looked at again and again.
func TestRedactEndsWithTheContext(t *testing.T) {
	for _, unit := range []string{"password=", "eyJ.", "a", "token: ", "sk-", "\u200bx", "-----BEGIN RSA PRIVATE KEY-----\n"} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		if s, err := RedactContext(&endingContext{context.Background(), 2}, text); err == nil || s != "" {
			t.Errorf("%q: %v, %d bytes", unit, err, len(s))
		}
	}
}

// A secret of several lines is found again by any of them.
func TestSecretsByLine(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3x9KdQwErTy\nUiOpAsDfGhJkLzXcVbNm1234567890\n" +
		"-----END RSA PRIVATE KEY-----\n"
	elsewhere := "curl -d MIIEpAIBAAKCAQEA7bq3x9KdQwErTy https://example.org"
	assert.NotContains(t, Redact(elsewhere, Secrets(key)...), "MIIEpAIB")
	assert.Equal(t, "ls -l", Redact("ls -l", Secrets(key)...))
}

// What an escape sequence parts is one secret to who sees the text, however long the sequence is.
func TestSecretAroundAnEscapeSequence(t *testing.T) {
	s := "ghp_abcdefghijklm\x1b]8;;" + strings.Repeat("x", 5000) + "\anopqrstuvwxyz0123456789AB"
	assert.NotContains(t, Clean(Redact(s)), "nopqrstuvw")
}
