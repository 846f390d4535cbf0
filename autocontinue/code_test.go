package autocontinue

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach"
)

func TestCodes(t *testing.T) {
	for _, r := range reasons {
		assert.Equal(t, r, codeOf(r).reason())
		var back reasonCode
		b, err := json.Marshal(codeOf(r))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &back))
		assert.Equal(t, codeOf(r), back)
		_, _, known := r.verdict()
		assert.Equal(t, r != "", known, "%q is in the table", r)
	}
	for _, tier := range append(coach.Tiers(), "") {
		assert.Equal(t, tier, tierCodeOf(tier).tier())
		var back tierCode
		b, err := json.Marshal(tierCodeOf(tier))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &back))
		assert.Equal(t, tierCodeOf(tier), back)
	}
	var r reasonCode
	assert.ErrorContains(t, json.Unmarshal([]byte(`"invented"`), &r), `no such reason: "invented"`)
	var tier tierCode
	assert.ErrorContains(t, json.Unmarshal([]byte(`"invented"`), &tier), `no such tier: "invented"`)
}
