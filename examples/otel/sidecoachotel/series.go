package sidecoachotel

import (
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// maxAttributes is how many a metric has at most.
const maxAttributes = 8

// series remembers the options for the attributes that were recorded before, which are costly to make. Attributes are
// codes, so there are only so many.
type series struct {
	mu   sync.RWMutex
	made map[[maxAttributes]attribute.KeyValue]options
}

type options struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// of returns the options for at most maxAttributes attributes, in an order of the caller's.
func (s *series) of(attrs ...attribute.KeyValue) options {
	var key [maxAttributes]attribute.KeyValue
	copy(key[:], attrs)
	s.mu.RLock()
	o, ok := s.made[key]
	s.mu.RUnlock()
	if ok {
		return o
	}
	set := metric.WithAttributeSet(attribute.NewSet(slices.Clone(attrs)...))
	o = options{[]metric.AddOption{set}, []metric.RecordOption{set}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		s.made = make(map[[maxAttributes]attribute.KeyValue]options)
	}
	s.made[key] = o
	return o
}
