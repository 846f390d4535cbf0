package plancriteria

// The reasons of ErrUnusable, for the tests.
var (
	ErrTooLarge = errTooLarge
	ErrTooDeep  = errTooDeep
	ErrNotUTF8  = errNotUTF8
)
