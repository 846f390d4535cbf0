package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// What is where on the server.
const (
	partitions = 64

	outputStream  = "OUTPUTS"
	actStream     = "ACTS"    // what was done, each decision once
	journalStream = "JOURNAL" // every attempt
	bucketName    = "sidecoach"
)

func outputSubject(p int) string { return fmt.Sprint("outputs.", p) }
func consumerName(p int) string  { return fmt.Sprint("partition-", p) }

// partition keeps a session's outputs together.
func partition(session string) int { return int(hash(session) % partitions) }

// delivery is one message of the queue. At says which of the session's it is: redeliveries of a message have the same.
type delivery struct {
	At     int                 `json:"at"`
	Output autocontinue.Output `json:"output"`
}

// entry is one line of the journal: one attempt to handle a delivery.
type entry struct {
	Session  string                `json:"session"`
	At       int                   `json:"at"`
	Worker   int                   `json:"worker"` // process ID
	Decision autocontinue.Decision `json:"decision"`
	// why there is no decision; the output comes again if it was not shown
	Error string `json:"error,omitempty"`
	Shown bool   `json:"shown,omitempty"` // with an error: to the human, for good
	Again bool   `json:"again,omitempty"` // the act was there already
	Took  steps  `json:"took"`
}

// connect opens the server's JetStream; a connection that is lost, or is not to be had, is made again for ever. What is
// sent without one fails at once: kept, it would be written when nobody waits for it any more.
func connect(url string) (*nats.Conn, jetstream.JetStream, error) {
	nc, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond), nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // whoever waits hears of it
	if err != nil {
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	return nc, js, nil
}

// prepare makes the streams, the bucket and one consumer a partition, of whose outputs so many are out at the same
// time.
func prepare(ctx context.Context, js jetstream.JetStream, ackWait time.Duration, out int) error {
	for _, cfg := range []jetstream.StreamConfig{
		{Name: outputStream, Subjects: []string{"outputs.*"}, Retention: jetstream.WorkQueuePolicy},
		{Name: actStream, Subjects: []string{"acts"}, Duplicates: time.Hour, Discard: jetstream.DiscardNew},
		{Name: journalStream, Subjects: []string{"journal"}, Discard: jetstream.DiscardNew},
	} {
		if _, err := js.CreateStream(ctx, cfg); err != nil {
			return fmt.Errorf("stream %s: %w", cfg.Name, err)
		}
	}
	if _, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucketName}); err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	for p := range partitions {
		_, err := js.CreateConsumer(ctx, outputStream, jetstream.ConsumerConfig{
			Durable: consumerName(p), FilterSubject: outputSubject(p),
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: out, MaxDeliver: -1,
		})
		if err != nil {
			return fmt.Errorf("consumer: %w", err)
		}
	}
	return nil
}

// publish puts the sessions' deliveries into the queue, the sessions mixed.
func publish(ctx context.Context, js jetstream.JetStream, sessions map[string][]autocontinue.Output) (int, error) {
	n := 0
	for at, more := 0, true; more; at++ {
		more = false
		for name, queue := range sessions {
			if at >= len(queue) {
				continue
			}
			more = true
			data, err := json.Marshal(delivery{At: at, Output: queue[at]})
			if err != nil {
				return n, fmt.Errorf("publish: %w", err)
			}
			if _, err := js.PublishAsync(outputSubject(partition(name)), data,
				jetstream.WithStallWait(time.Minute)); err != nil {
				return n, fmt.Errorf("publish: %w", err)
			}
			n++
		}
		select {
		case <-js.PublishAsyncComplete():
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
	return n, nil
}

// drained waits until every delivery was acknowledged, and through every time that the server does not answer.
func drained(ctx context.Context, js jetstream.JetStream) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, cancel := context.WithTimeout(ctx, time.Second)
		stream, err := js.Stream(request, outputStream)
		cancel()
		if err == nil && stream.CachedInfo().State.Msgs == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// all returns every message of a stream.
func all(ctx context.Context, js jetstream.JetStream, name string) ([][]byte, error) {
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	total := int(stream.CachedInfo().State.Msgs)
	c, err := js.OrderedConsumer(ctx, name, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lines := make([][]byte, 0, total)
	for len(lines) < total {
		batch, err := c.Fetch(min(500, total-len(lines)), jetstream.FetchMaxWait(10*time.Second))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		before := len(lines)
		for m := range batch.Messages() {
			lines = append(lines, m.Data())
		}
		if err := batch.Error(); err != nil || len(lines) == before {
			return nil, fmt.Errorf("%s: %d of %d messages: %w", name, len(lines), total, errors.Join(err, ctx.Err()))
		}
	}
	return lines, nil
}

// folder returns where the server keeps its files, and what removes it.
func folder(keep string) (string, func(), error) {
	if keep != "" {
		if entries, err := os.ReadDir(keep); err == nil && len(entries) > 0 {
			return "", nil, fmt.Errorf("-dir: %s is not empty", keep)
		}
		return keep, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "sidecoach-nats-")
	if err != nil {
		return "", nil, fmt.Errorf("folder: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
