package natskv

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// serve starts a server with JetStream on a port of its own.
func serve(t *testing.T) *server.Server {
	t.Helper()
	return serveAt(t, server.RANDOM_PORT, t.TempDir())
}

func serveAt(t *testing.T, port int, dir string) *server.Server {
	t.Helper()
	s, err := server.NewServer(
		&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true},
	)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(10*time.Second))
	return s
}

// bucket makes a bucket, through url.
func bucket(t *testing.T, url string, cfg jetstream.KeyValueConfig, opts ...nats.Option) jetstream.KeyValue {
	t.Helper()
	nc, err := nats.Connect(url, append(opts, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))...)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	cfg.Bucket = "b" + nats.NewInbox()[len("_INBOX."):]
	kv, err := js.CreateKeyValue(t.Context(), cfg)
	require.NoError(t, err)
	return kv
}

// wire is a connection to the server that can be cut: what comes while it is cut waits.
type wire struct {
	url string
	mu  sync.RWMutex // held for writing: cut
}

func newWire(t *testing.T, s *server.Server) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	w := &wire{url: "nats://" + l.Addr().String()}
	target := strings.TrimPrefix(s.ClientURL(), "nats://")
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				near.Close()
				continue
			}
			go w.copy(far, near)
			go w.copy(near, far)
		}
	}()
	return w
}

func (w *wire) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			w.mu.RLock()
			_, writeErr := to.Write(buf[:n])
			w.mu.RUnlock()
			if writeErr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
