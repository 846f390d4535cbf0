package cmdwitness

import (
	"slices"
	"strings"
)

// kept are the variables that programs need to find themselves, their caches and the network. Tokens, keys and addresses of
// services are not among them, nor what makes a program load or run something else (LD_PRELOAD, GIT_*, NODE_OPTIONS, BASH_ENV).
var kept = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "TMP", "TEMP",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",

	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES", "NUMBER_OF_PROCESSORS",
	"PROCESSOR_ARCHITECTURE", "OS", "HOMEDRIVE", "HOMEPATH",

	"GOROOT", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOTMPDIR", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY",
	"GOPRIVATE", "GOVCS", "GOTOOLCHAIN", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GOEXPERIMENT", "GOWORK", "GOENV",
	"CGO_ENABLED", "CC", "CXX", "AR", "PKG_CONFIG", "PKG_CONFIG_PATH",
	"JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT", "DOTNET_ROOT",
}

// Environ returns what a command gets of an environment such as os.Environ: the variables by which programs find themselves,
// their caches and the network, and the locale (LC_*). All others are left out, so that what an agent wrote does not see the
// host's tokens. A program that needs more gets it from the host, in [Command].Env.
func Environ(environ []string) []string {
	var list []string
	for _, v := range environ {
		name, _, ok := strings.Cut(v, "=")
		name = strings.ToUpper(name)
		if ok && name != "" && (slices.Contains(kept, name) || strings.HasPrefix(name, "LC_")) {
			list = append(list, v)
		}
	}
	return list
}
