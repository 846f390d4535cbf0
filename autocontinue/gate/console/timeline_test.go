package console

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// found asks for events as the page does.
func (d *fixture) found(c *http.Client, query string) (views []gate.Event, all int) {
	d.t.Helper()
	resp, body := answerTo(d.t, c, d.request("GET", "/events?"+query, ""))
	require.Equal(d.t, 200, resp.StatusCode, body)
	var data struct {
		Events []gate.Event
		Found  int
	}
	require.NoError(d.t, json.Unmarshal([]byte(body), &data))
	return data.Events, data.Found
}

func TestTimelineIsSearchedAndFiltered(t *testing.T) {
	d := serve(t)
	c := d.enter("ann")
	d.running("r1")
	denied := d.tool("r1", "c1", "weight_delete", `{"note":"Grandmother's"}`)
	_, err := d.session.Resolve(d.clock.now(),
		gate.Decision{Item: denied.ID, Digest: denied.Digest, Action: gate.Deny, By: "ann", Reason: "keep it"})
	require.NoError(t, err)
	d.tool("r1", "c2", "profile_get", `{}`)
	require.NoError(t, d.session.SetAudited(d.clock.now(), "ben", false))
	d.tool("r1", "c3", "weight_delete", `{}`)
	for query, want := range map[string]int{
		"":                        11,
		"q=weight_delete":         4,
		"q=GRANDMOTHER":           1,
		"q=weight_delete+keep+it": 1,
		"q=nothing+like+it":       0,
		"show=people":             3,
		"show=denied":             1,
		"show=tools":              6,
		"show=rules":              1,
		"show=unaudited":          1,
		"show=people&q=auditing":  1,
	} {
		views, all := d.found(c, query)
		assert.Equal(t, want, all, query)
		assert.Len(t, views, want, query)
	}
	views, _ := d.found(c, "show=rules")
	assert.Equal(t, []string{"auditing: on → off"}, views[0].Changes)
	for _, query := range []string{"show=none", "format=xml"} {
		resp, _ := answerTo(t, c, d.request("GET", "/events?"+query, ""))
		assert.Equal(t, 400, resp.StatusCode, query)
	}
	resp, _ := answerTo(t, http.DefaultClient, d.request("GET", "/events?format=jsonl", ""))
	assert.Equal(t, 401, resp.StatusCode)
}

func TestTimelineIsExported(t *testing.T) {
	var journal strings.Builder
	session, err := gate.New(gate.Policy{},
		gate.Options{Audited: true, Journal: func(lines []byte) error { journal.Write(lines); return nil }})
	require.NoError(t, err)
	d := serve(t, func(c *Config, _ *limits) { c.Session = session })
	d.session = session
	c := d.enter("ann")
	it := d.stage("r1", "<hello> & \u2028")
	_, err = session.Resolve(d.clock.now(),
		gate.Decision{Item: it.ID, Digest: it.Digest, Action: gate.Deny, By: "ann", Reason: "=HYPERLINK(\"x\")"})
	require.NoError(t, err)
	_, lines := answerTo(t, c, d.request("GET", "/events?format=jsonl", ""))
	assert.Equal(t, journal.String(), lines, "the lines of the journal, whose hashes can be checked")

	resp, text := answerTo(t, c, d.request("GET", "/events?format=csv&q="+url.QueryEscape("denied"), ""))
	assert.Equal(t, `attachment; filename="events.csv"`, resp.Header.Get("Content-Disposition"))
	rows, err := csv.NewReader(bufio.NewReader(strings.NewReader(text))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	row := map[string]string{}
	for i, name := range rows[0] {
		row[name] = rows[1][i]
	}
	assert.Equal(t, "'=HYPERLINK(\"x\")", row["reason"], "no formula of a spreadsheet")
	assert.Equal(t, "RUN_STAGE_DENIED", row["type"])
	assert.Equal(t, "ann", row["by"])
}

// A clock that runs back does not change the order.
func TestItemsAreInTheOrderOfTheirProposals(t *testing.T) {
	d := serve(t)
	for i, run := range []string{"r1", "r2", "r3"} {
		d.clock.add(-1e9 * 60)
		d.stage(run, "x")
		assert.Len(t, d.session.Pending(), i+1)
	}
	p := d.open(d.enter("ann"), "")
	var order []string
	for _, it := range p.until("snapshot").Items {
		order = append(order, it.Run)
	}
	assert.Equal(t, []string{"r1", "r2", "r3"}, order)
}
