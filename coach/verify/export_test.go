package verify

// What tests compare with.
var (
	Audit = compare

	ErrNoDecision          = errNoDecision
	ErrConflictingDecision = errConflictingDecision
	ErrDuplicateKey        = errDuplicateKey
	ErrVerdict             = errVerdict
	ErrTooLarge            = errTooLarge
	ErrNotUTF8             = errNotUTF8
	ErrNotReport           = errNotReport
)

type (
	Contracts  = contracts
	Recorded   = recorded
	Severity   = severity
	Started    = started
	TestsCheck = testsCheck
	Verdict    = verdict
)
