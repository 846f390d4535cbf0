package sidecoachotel

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The keys of attributes that have no name in the semantic conventions.
const (
	keyAction     = attribute.Key("sidecoach.action")
	keyOutcome    = attribute.Key("sidecoach.outcome")
	keyReason     = attribute.Key("sidecoach.reason")
	keyReplayed   = attribute.Key("sidecoach.replayed")
	keyType       = attribute.Key("sidecoach.type")
	keyRejected   = attribute.Key("sidecoach.rejected")
	keySource     = attribute.Key("sidecoach.source")
	keyConfidence = attribute.Key("sidecoach.confidence")
	keyTier       = attribute.Key("sidecoach.tier")
	keyAttempt    = attribute.Key("sidecoach.attempt")
	keyContinues  = attribute.Key("sidecoach.continues")
	keyVerified   = attribute.Key("sidecoach.verified")
	keyFallback   = attribute.Key("sidecoach.fallback.kind")
	keyDegraded   = attribute.Key("sidecoach.degraded.kind")
	keyStep       = attribute.Key("sidecoach.step")
	keyRetries    = attribute.Key("sidecoach.store.retries")
	keyTurn       = attribute.Key("sidecoach.turn.id")
	keyRun        = attribute.Key("sidecoach.run.id")
	keyOutput     = attribute.Key("sidecoach.output.id")
	keyDecision   = attribute.Key("sidecoach.decision.id")
)

// Names of the semantic conventions: the general ones, and those for generative AI, which are in development.
const (
	keyErrorType     = attribute.Key("error.type")
	keyConversation  = attribute.Key("gen_ai.conversation.id")
	keyOperation     = attribute.Key("gen_ai.operation.name")
	keyProvider      = attribute.Key("gen_ai.provider.name")
	keyRequestModel  = attribute.Key("gen_ai.request.model")
	keyResponseModel = attribute.Key("gen_ai.response.model")
	keyTokenType     = attribute.Key("gen_ai.token.type")
	keyInput         = attribute.Key("gen_ai.usage.input_tokens")
	keyCached        = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	keyOutputTokens  = attribute.Key("gen_ai.usage.output_tokens")
)

// instrument is one row of the table in the README. With buckets it is a histogram, otherwise a counter.
type instrument struct {
	name, unit, description string
	attributes              []attribute.Key
	buckets                 []float64
}

var (
	decisions = instrument{
		name: "sidecoach.decisions", unit: "{decision}",
		description: "Decisions, errors included; replayed are those of outputs that were delivered again.",
		attributes: []attribute.Key{
			keyAction, keyOutcome, keyReason, keyReplayed, keyType, keyRejected, keySource, keyErrorType,
		},
	}
	handleDuration = instrument{
		name: "sidecoach.handle.duration", unit: "s",
		description: "Time from the call of Handle to the decision, waiting for the session included.",
		attributes:  []attribute.Key{keyAction, keySource, keyErrorType},
		buckets:     seconds,
	}
	stepDuration = instrument{
		name: "sidecoach.step.duration", unit: "s",
		description: "Time of a step: load, classify, verify, update.",
		attributes:  []attribute.Key{keyStep, keyErrorType},
		buckets:     seconds,
	}
	turnContinues = instrument{
		name: "sidecoach.turn.continues", unit: "{continue}",
		description: "Continuations a turn had used when it was completed or handed over to the human.",
		attributes:  []attribute.Key{keyOutcome},
		buckets:     []float64{0, 1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 1000},
	}
	messages = instrument{
		name: "sidecoach.messages", unit: "{message}",
		description: "Messages for the agent, by where their words come from.",
		attributes:  []attribute.Key{keyTier},
	}
	verifications = instrument{
		name: "sidecoach.verifications", unit: "{verification}",
		description: "Claims that a verifier looked into.",
		attributes:  []attribute.Key{keyVerified},
	}
	fallbacks = instrument{
		name: "sidecoach.fallbacks", unit: "{fallback}",
		description: "Verdicts of a second classifier, by why the first did not answer.",
		attributes:  []attribute.Key{keyFallback},
	}
	degradations = instrument{
		name: "sidecoach.degradations", unit: "{degradation}",
		description: "What could not be used for a decision that was made all the same.",
		attributes:  []attribute.Key{keyDegraded},
	}
	storeRetries = instrument{
		name: "sidecoach.store.retries", unit: "{retry}",
		description: "Races for a session's state that an update lost before it was written or given up.",
	}
	tokenUsage = instrument{
		name: "gen_ai.client.token.usage", unit: "{token}",
		description: "Tokens of a verdict.",
		attributes:  []attribute.Key{keyOperation, keyProvider, keyRequestModel, keyTokenType},
		buckets:     []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864},
	}
	operationDuration = instrument{
		name: "gen_ai.client.operation.duration", unit: "s",
		description: "Time of the calls of a verdict to the model, all attempts together.",
		attributes:  []attribute.Key{keyOperation, keyProvider, keyRequestModel},
		buckets:     []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
	}
)

// seconds reach from a heuristic's verdict to a verifier that runs tests.
var seconds = []float64{
	0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
}

// table is every instrument, in the order of the README.
var table = []instrument{
	decisions, handleDuration, stepDuration, turnContinues, messages, verifications, fallbacks, degradations, storeRetries,
	tokenUsage, operationDuration,
}

// instruments are those of the table, made.
type instruments struct {
	decisions, messages, verifications, fallbacks, degradations, storeRetries metric.Int64Counter
	turnContinues, tokenUsage                                                 metric.Int64Histogram
	handleDuration, stepDuration, operationDuration                           metric.Float64Histogram
}

func makeInstruments(m metric.Meter) (instruments, error) {
	var i instruments
	for _, c := range []struct {
		made *metric.Int64Counter
		of   instrument
	}{
		{&i.decisions, decisions}, {&i.messages, messages}, {&i.verifications, verifications}, {&i.fallbacks, fallbacks},
		{&i.degradations, degradations}, {&i.storeRetries, storeRetries},
	} {
		var err error
		if *c.made, err = m.Int64Counter(c.of.name, metric.WithUnit(c.of.unit),
			metric.WithDescription(c.of.description)); err != nil {
			return i, err
		}
	}
	for _, h := range []struct {
		made *metric.Int64Histogram
		of   instrument
	}{{&i.turnContinues, turnContinues}, {&i.tokenUsage, tokenUsage}} {
		var err error
		if *h.made, err = m.Int64Histogram(h.of.name, metric.WithUnit(h.of.unit), metric.WithDescription(h.of.description),
			metric.WithExplicitBucketBoundaries(h.of.buckets...)); err != nil {
			return i, err
		}
	}
	for _, h := range []struct {
		made *metric.Float64Histogram
		of   instrument
	}{{&i.handleDuration, handleDuration}, {&i.stepDuration, stepDuration}, {&i.operationDuration, operationDuration}} {
		var err error
		if *h.made, err = m.Float64Histogram(h.of.name, metric.WithUnit(h.of.unit), metric.WithDescription(h.of.description),
			metric.WithExplicitBucketBoundaries(h.of.buckets...)); err != nil {
			return i, err
		}
	}
	return i, nil
}
