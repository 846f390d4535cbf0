package autocontinue

import (
	"fmt"
	"slices"

	"github.com/sidecoach/sidecoach/coach"
)

// reasons are in the order of the table. Stored states have the names, so the order is free.
var reasons = [...]Reason{
	"", ReasonRunClosed, ReasonSameText, ReasonSuperseded, ReasonCrashGuard, ReasonHold, ReasonQuestion, ReasonBlocker,
	ReasonCompletion, ReasonLowConfidence, ReasonWaiting, ReasonRepeat, ReasonCap, ReasonRejectedCompletion, ReasonProgress,
	ReasonEmpty, ReasonError,
}

// reasonCode is a [Reason] in a byte.
type reasonCode uint8

func codeOf(r Reason) reasonCode { return reasonCode(max(slices.Index(reasons[:], r), 0)) }

func (c reasonCode) reason() Reason { return reasons[c] }

func (c reasonCode) MarshalText() ([]byte, error) { return []byte(reasons[c]), nil }

func (c *reasonCode) UnmarshalText(text []byte) error {
	i := slices.Index(reasons[:], Reason(text))
	if i < 0 {
		return fmt.Errorf("autocontinue: no such reason: %.20q", text)
	}
	*c = reasonCode(i)
	return nil
}

// tiers are the coach's, after none.
var tiers = append([]coach.Tier{""}, coach.Tiers()...)

// tierCode is a [coach.Tier] in a byte.
type tierCode uint8

func tierCodeOf(t coach.Tier) tierCode { return tierCode(max(slices.Index(tiers, t), 0)) }

func (c tierCode) tier() coach.Tier { return tiers[c] }

func (c tierCode) MarshalText() ([]byte, error) { return []byte(tiers[c]), nil }

func (c *tierCode) UnmarshalText(text []byte) error {
	i := slices.Index(tiers, coach.Tier(text))
	if i < 0 {
		return fmt.Errorf("autocontinue: no such tier: %.20q", text)
	}
	*c = tierCode(i)
	return nil
}
