// Package sidecoachotel shows through OpenTelemetry what a sidecoach loop does: a span for each call of Handle, with
// one in it for each step, and counters and histograms of decisions, tokens and latencies.
//
// Start with [New] and [Observer.Instrument], which puts the observer, and measures around the classifier, the verifier
// and the store, into the configuration of a loop. An [Observer] alone, as autocontinue.Config.Observer, makes
// everything but the spans and durations of the steps, the verifications and the lost races of the store.
//
// The README beside this package lists the instruments; ../dashboard.json shows them in Grafana.
//
// # Privacy
//
// Metrics carry codes only: every attribute has a fixed set of values, and what is none of them is "_OTHER". IDs of
// sessions, turns, runs, outputs and decisions are on spans alone. Of texts, those of the agent, the human and the
// coach among them, there is nothing anywhere; the one text is the description of a failed span, which is the error as
// the journal shows it.
//
// # Limits
//
// Only tokens of a verdict that counts are seen: what a call cost that ended in a fallback, and the calls of a
// verifier, are not in an event. A verdict from the cache cost none and is counted nowhere.
//
// Handle waits for the observer. With a batching span processor and a periodic or pulled metric reader that is a matter
// of microseconds however slow the exporter is; a simple span processor (trace.WithSyncer) exports while Handle waits.
//
// # Errors
//
// New returns those of the providers and of its configuration. A panic of a span processor becomes an error of Observe,
// which the loop logs, or, elsewhere, of otel.Handle: no decision is lost to it.
package sidecoachotel
