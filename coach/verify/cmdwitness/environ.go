package cmdwitness

import (
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

// Environment says which variables of this process a command gets.
type Environment struct {
	// Pass names variables that are passed in any case, secrets too.
	Pass []string
	// Clean passes only the variables that programs need to find themselves, their caches and the network.
	Clean bool
}

// secretWords are parts of the names of variables that hold secrets or lead to them.
var secretWords = strings.Fields(`TOKEN TOKENS SECRET SECRETS PASSWORD PASSWD PASSPHRASE PASS CREDENTIAL CREDENTIALS
		KEY KEYS APIKEY AUTH OAUTH COOKIE PAT JWT DSN PRIVATE WEBHOOK`)

// needed are the variables of a clean environment, beside those of the locale.
var needed = strings.Fields(`PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP XDG_CACHE_HOME
		XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR
		SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES
		PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS HOMEDRIVE
		HOMEPATH GOROOT GOPATH GOBIN GOCACHE GOMODCACHE GOTMPDIR GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOVCS
		GOTOOLCHAIN GOOS GOARCH GOARM GOAMD64 GOEXPERIMENT GOWORK GOENV CGO_ENABLED CC CXX AR PKG_CONFIG PKG_CONFIG_PATH
		JAVA_HOME CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN NVM_DIR PYENV_ROOT RBENV_ROOT DOTNET_ROOT`)

// repository are variables that make git work on another repository than that of the folder.
var repository = strings.Fields("GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_PREFIX")

// userinfo is the name and password in an address.
var userinfo = lazy.New(`^(?i:(https?://)[^/@\s]+@|([a-z][a-z0-9+.-]*://)?[^/@\s:]*:[^/@\s]*@)`)

// Of returns what a command gets of an environment such as os.Environ, and the names of the variables that it does not
// get. Secrets are left out, by their names and by their values. An address keeps its host and loses its password.
func (e Environment) Of(environ []string) (env, withheld []string) {
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		if !ok || name == "" || slices.Contains(repository, upper) { // Windows has variables such as "=C:"
			continue
		}
		switch {
		case slices.Contains(e.Pass, name):
			env = append(env, v)
		case e.Clean && !slices.Contains(needed, upper) && !strings.HasPrefix(upper, "LC_"):
			withheld = append(withheld, name)
		case slices.ContainsFunc(strings.Split(upper, "_"), func(w string) bool { return slices.Contains(secretWords, w) }):
			withheld = append(withheld, name)
		case userinfo.Match(value):
			env = append(env, name+"="+userinfo.Replace(value, "$1$2"))
			withheld = append(withheld, "the password in "+name)
		case plaintext.Redact(value) != value:
			withheld = append(withheld, name)
		default:
			env = append(env, v)
		}
	}
	return env, withheld
}
