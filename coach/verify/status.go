package verify

// Status is what is known of something that was asked. The zero value, and any other text, is Unverified.
type Status string

// The three values.
const (
	Met        Status = "met"        // somebody looked, and it is so
	NotMet     Status = "not_met"    // somebody looked, and it is not so
	Unverified Status = "unverified" // nobody looked, or it could not be seen
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

// UnmarshalText reads what MarshalText wrote. Anything else is Unverified, without an error: nobody knows what it means.
func (s *Status) UnmarshalText(text []byte) error {
	*s = Status(Status(text).String())
	return nil
}

// And returns NotMet if any is, else Unverified if any is or if there is none, else Met.
func And(all ...Status) Status {
	least := Met
	for _, s := range all {
		switch {
		case s == NotMet:
			return NotMet
		case s != Met:
			least = Unverified
		}
	}
	if len(all) == 0 {
		return Unverified
	}
	return least
}
