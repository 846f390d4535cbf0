package cmdwitness

import (
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Environment says which variables of this process a command gets.
type Environment struct {
	// Pass names variables that are passed in any case, secrets too.
	Pass []string
	// Clean passes only the variables that programs need to find themselves, their caches and the network.
	Clean bool
}

// Of returns what a command gets of an environment such as os.Environ, and the names of the variables that it does not
// get. Secrets are left out, by their names and by their values. An address keeps its host and loses its password.
func (e Environment) Of(environ []string) (env, withheld []string) {
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		if !ok || name == "" || slices.Contains(lex().Repository, upper) { // Windows has variables such as "=C:"
			continue
		}
		switch {
		case slices.Contains(e.Pass, name):
			env = append(env, v)
		case e.Clean && !slices.Contains(lex().Needed, upper) && !strings.HasPrefix(upper, "LC_"):
			withheld = append(withheld, name)
		case slices.ContainsFunc(strings.Split(upper, "_"), func(w string) bool { return slices.Contains(lex().Secrets, w) }):
			withheld = append(withheld, name)
		case lex().Userinfo.Match(value):
			env = append(env, name+"="+lex().Userinfo.Replace(value, "$1$2"))
			withheld = append(withheld, "the password in "+name)
		case plaintext.Redact(value) != value:
			withheld = append(withheld, name)
		default:
			env = append(env, v)
		}
	}
	return env, withheld
}
