package gitwitness

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A constant of an HTTP status stands for its number, and a name with a number for nothing else.
func TestNumbersOfStatuses(t *testing.T) {
	var v vocabulary
	v.count("return statusnotfound, status_gateway_timeout, status504, _504, status7")
	assert.Equal(t, []float64{404, 504}, v.numbers)
}
