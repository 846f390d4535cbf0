package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/autocontinue/gate/console"
)

func Example() {
	policy, err := gate.ParsePolicy([]byte(`[{"tool":"profile_get","then":"allow"}]`))
	if err != nil {
		panic(err)
	}
	session, err := gate.New(policy, gate.Options{Audited: true})
	if err != nil {
		panic(err)
	}
	page, err := console.New(console.Config{
		Session: session,
		Submit: func(ctx context.Context, by, thread, message string) error { // stage a run for it
			_, err := session.Propose(time.Now(), gate.Subject{
				Kind: gate.Context, Thread: thread, Run: "run-1", Label: "From " + by,
				Body: fmt.Appendf(nil, `{"message":%q}`, message),
			})
			return err
		},
	})
	if err != nil {
		panic(err)
	}
	defer page.Close()
	mux := http.NewServeMux()
	mux.Handle(page.Path(), page)
	mux.Handle(page.Path()+"/", page)
	server := httptest.NewServer(mux) // a real one listens on 127.0.0.1
	defer server.Close()

	link, err := page.Invite("ann")
	if err != nil {
		panic(err)
	}
	before, token, _ := strings.Cut(link, "=")
	fmt.Println(before, len(token) > 20) // print server.URL + link for ann
	// Output: /coach_audit/#token true
}
