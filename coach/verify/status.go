package verify

import "slices"

// Status is what is known of something that was asked. The zero value, and any other text, is Unverified.
type Status string

// The three values.
const (
	Met        Status = "met"        // it was looked at, and holds
	NotMet     Status = "not_met"    // it was looked at, and does not hold
	Unverified Status = "unverified" // it was not looked at, or could not be seen
)

// String returns one of the three values.
func (s Status) String() string {
	if s == Met || s == NotMet {
		return string(s)
	}
	return string(Unverified)
}

// MarshalText writes one of the three values.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote. Anything else is Unverified, without an error: its meaning is unknown.
func (s *Status) UnmarshalText(text []byte) error {
	*s = Status(Status(text).String())
	return nil
}

// And returns NotMet if any is, else Unverified if any is or if there is none, else Met.
func And(all ...Status) Status {
	switch {
	case slices.Contains(all, NotMet):
		return NotMet
	case len(all) == 0 || slices.ContainsFunc(all, func(s Status) bool { return s != Met }):
		return Unverified
	}
	return Met
}
