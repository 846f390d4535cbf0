package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// oddKeys says what an event list has twice or lacks.
const oddKeys = `(() => {
	const n = Array.from(document.querySelectorAll("#events [data-seq]"), (e) => Number(e.dataset.seq));
	return n.every((v, i) => i === 0 || v === n[i - 1] - 1) && n.at(-1) === 1 ? "" : n.join(" ");
})()`

func TestTokenLeavesNoTrace(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	assert.Equal(t, "http://"+s.addr+"/coach_audit/", p.eval("location.href"))
	history, err := chromedp.Run(p.ctx, chromedp.NavigationEntries())
	require.NoError(t, err)
	_, token, _ := strings.Cut(s.links["ann"], "token=")
	assert.NotContains(t, fmt.Sprint(history), token)
	for _, e := range history.Entries {
		assert.NotContains(t, e.URL, token)
	}
	assert.Empty(t, p.eval("document.cookie"), "no script reads the cookie")
	assert.NotContains(t, p.eval("JSON.stringify({...sessionStorage, ...localStorage})"), token)
	assert.Equal(t, "ann", p.text("#who"))

	p.click("#logout")
	p.has("#sign-in", "Sign in")
	p.picture("sign-in")
	p.write("#token", "wrong")
	p.do(`document.getElementById("login").requestSubmit()`)
	p.has("#login-error", "A link works once")
	p.write("#token", s.links["ben"]) // the whole link is fine too
	p.do(`document.getElementById("login").requestSubmit()`)
	p.wait(`document.getElementById("who").innerText === "ben"`)
}

// One message through every gate: what is sent, called and shown is what was edited.
func TestEditAtEachGate(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.say("Please import my weights")
	p.card("Message from ann")
	p.picture("context-1280-light")
	payload := p.eval(`document.querySelector("#card pre").innerText`)
	assert.Contains(t, payload, `"temperature": 0.20`)
	p.decide("edit", "#edit-body", strings.Replace(payload, "Please import", "Kindly import", 1))

	p.card("weight_save_batch")
	args := p.eval(`document.querySelector("#card pre").innerText`)
	assert.Contains(t, args, `"user": 90071992547409931,`, "more digits than a float has")
	assert.Contains(t, args, `72.50`)
	p.picture("tool-1280-light")
	p.whole()
	p.press("e")
	p.wait(`document.querySelector("#edit-body") === document.activeElement`)
	assert.Equal(t, args, p.eval(`document.querySelector("#edit-body").value`),
		"the key that opens the field is not typed into it")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#card-error", "Nothing is changed")
	p.write("#edit-body", strings.Replace(args, "722", "", 1))
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#card-error", "Not done")
	p.write("#edit-body", strings.Replace(args, "722", "72.20", 1))
	p.has(".diff ins", "72.20")
	p.has(".diff del", "722")
	p.picture("edit-1280-light")
	p.do(`document.querySelector("#card form").requestSubmit()`)

	// The agent claims more than it shows, so the loop wants to send it on.
	p.card("Continue")
	p.picture("continuation-1280-light")
	sent := p.eval(`document.querySelector("#card pre").innerText`)
	assert.Contains(t, sent, "[System Coach] ")
	p.decide("edit", "#edit-body", strings.Replace(sent, "[System Coach] ", "", 1))
	p.has("#card-error", "a continuation keeps its beginning")
	p.write("#edit-body", strings.Replace(sent, "[System Coach] ", "[System Coach] Be short. ", 1))
	p.do(`document.querySelector("#card form").requestSubmit()`)

	p.card("Deliver")
	assert.Contains(t, p.text("#card pre"), "Imported 3 weights")
	p.whole()
	p.press("e")
	p.wait(`document.querySelector("#edit-text")`)
	p.write("#edit-text", "All three weights are in.")
	p.has(".diff ins", "All three weights are in.")
	p.picture("response-edit-1280-light")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#messages .agent", "All three weights are in.")
	p.has("#events", "Run finished")
	p.picture("finished-1280-light")

	journal := s.journal()
	assert.Contains(t, journal, `"argsOverride":{"user":90071992547409931,"unit":"kg","rows":[{"day":"2026-11-16",`+
		`"weight":72.50},{"day":"2026-11-17","weight":72.3},{"day":"2026-11-18","weight":72.20}]}`)
	assert.Contains(t, journal, `Kindly import`)
	assert.Contains(t, journal, `"finalText":"All three weights are in."`)
	assert.Equal(t, "", p.eval(oddKeys))
}

func TestApproveAndDenyAtEachGate(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)

	p.say("delete the odd weight")
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card("weight_delete") // both calls wait at once
	p.wait(`document.querySelectorAll("#queue li").length === 2`)
	p.decide("deny", "#reason", "It is my real weight")
	p.card("note_delete")
	p.decide("approve", "", "")
	p.card("Deliver")
	assert.Contains(t, p.text("#card pre"), "I left the weight alone: It is my real weight. I deleted the note.",
		"the agent reads the reason")
	p.decide("approve", "", "")
	p.has("#messages .agent", "It is my real weight")

	p.say("tell me about my profile")
	p.card("Message from ann")
	p.decide("deny", "#reason", "")
	p.has("#messages .human", "Denied by ann")

	p.say("tell me about my profile")
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card("Deliver")
	p.decide("deny", "#reason", "Too personal")
	p.has("#messages .agent", "Denied by ann: Too personal")
	assert.NotContains(t, p.text("#messages"), "You are Kim")

	// A continuation that is denied is delivered: the human sees what the agent said.
	p.say("import my weights")
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card("weight_save_batch")
	p.decide("respond", "#edit-result", `{"saved": 3}`)
	p.card("Continue")
	p.decide("deny", "#reason", "Good enough")
	p.card("Not continued")
	p.decide("approve", "", "")
	p.has("#messages .agent", "Imported the weights, should work now.")
	assert.Equal(t, "", p.eval(oddKeys))
}

func TestTwoBrowsersRace(t *testing.T) {
	s := serve(t)
	browser := chromium(t)
	ann, ben := enter(t, browser, s.links["ann"], false), enter(t, browser, s.links["ben"], true)
	ann.say("delete the odd weight")
	for _, p := range []*tab{ann, ben} {
		p.card("Message from ann")
		p.settled()
	}
	ben.press("d")
	ben.wait(`document.querySelector("#reason")`)
	ann.decide("approve", "", "")
	ben.has("#card-error", "Approved by ann")
	ben.has("#card-error", "not sent")

	// Both at once: whoever comes second is told who was first.
	for _, p := range []*tab{ann, ben} {
		p.wait(`document.querySelectorAll("#queue li").length === 2`)
		p.do(`document.querySelector("#queue button").click()`)
		p.card("weight_delete")
		p.settled()
		p.whole()
	}
	done := make(chan error, 2)
	for _, p := range []*tab{ann, ben} {
		go func() {
			done <- chromedp.Do(p.ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector("#card `+
				`[data-action=approve]").click()`))
		}()
	}
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	for _, p := range []*tab{ann, ben} {
		p.card("note_delete")
		p.wait(`document.querySelectorAll("#queue li").length === 1`)
	}
	assert.Equal(t, 1, strings.Count(s.journal(), `"type":"TOOL_CALL_APPROVED","at"`)-strings.Count(s.journal(),
		`"toolName":"profile_get","by":"policy"`), "one winner")
	ann.has("#events", "Call approved")
	assert.Equal(t, ann.text("#messages"), ben.text("#messages"), "both see the same")
	assert.Equal(t, ann.text("#events"), ben.text("#events"))
}

func TestReloadInTheMiddle(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.say("import my weights")
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card("weight_save_batch")
	p.whole()
	p.press("e")
	p.wait(`document.querySelector("#edit-body")`)
	half := strings.Replace(p.eval(`document.querySelector("#edit-body").value`), "722", "72", 1)
	p.write("#edit-body", half)
	before, said := p.text("#events"), p.text("#messages")
	p.run(chromedp.Reload())
	p.card("weight_save_batch")
	assert.Equal(t, before, p.text("#events"))
	assert.Equal(t, said, p.text("#messages"))
	assert.Equal(t, "", p.eval(oddKeys))
	p.whole()
	p.press("e")
	p.wait(`document.querySelector("#edit-body")`)
	assert.Equal(t, half, p.eval(`document.querySelector("#edit-body").value`), "what was typed is still there")
}

func TestServerIsKilledInTheMiddle(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.say("import my weights")
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card("weight_save_batch")
	p.settled()
	p.whole()
	old := s.links["ann"]
	s.kill()
	p.has("#lost", "The connection is lost")
	p.picture("lost-1280-light")
	p.do(`document.querySelector("#card [data-action=approve]").click()`)
	p.has("#card-error", "There is no connection; nothing was sent.")

	// A line that was written by half when the power went.
	f, err := os.OpenFile(filepath.Join(s.dir, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"seq":99,"prev":"`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	s.start()
	assert.NotEqual(t, old, s.links["ann"], "the old links are dead")
	p.wait(`document.getElementById("app").dataset.link === "open"`) // the cookie still holds
	p.card("weight_save_batch")
	p.decide("approve", "", "")
	p.card("Continue")
	s.kill() // between two runs of a turn
	s.start()
	p.wait(`document.getElementById("app").dataset.link === "open"`)
	p.card("Continue")
	p.decide("approve", "", "")
	p.card("Deliver")
	p.decide("approve", "", "")
	p.has("#messages .agent", "Imported 3 weights")
	assert.Equal(t, "", p.eval(oddKeys))
	assert.Equal(t, 1, strings.Count(s.journal(), `"type":"TOOL_CALL_PROPOSED","at"`)-2, "no call was proposed twice")
	p.run(chromedp.Reload())
	p.has("#messages .agent", "Imported 3 weights")
	assert.Equal(t, "", p.eval(oddKeys))
}

func TestHostileDraftIsText(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.say("be hostile and large")
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card("Deliver")
	p.settled()
	draft := p.text("#card pre")
	assert.Contains(t, draft, "<script>document.title='owned'</script>")
	assert.Contains(t, draft, `\u202etxt.exe\u202c and \u200bhidden\u200b, \x1b[2Jcleared.`)
	assert.NotContains(t, draft, "\u202e")
	p.has("#card", "You see the first 64 KB of 2.0 MB.")
	p.has("#card [data-action=approve]", "Show all to approve")
	p.picture("hostile-1280-light")
	p.do(`document.querySelector("#card [data-action=approve]").click()`)
	p.wait(`document.querySelector("#card pre").textContent.length > 2000000`)
	p.has("#card [data-action=approve]", "Scroll down to approve")
	p.do(`document.querySelector(".work").scrollTo(0, 1e9)`)
	p.decide("approve", "", "")
	p.has("#messages .agent", "shown")
	assert.Equal(t, "0", p.eval(`document.querySelectorAll("#app script, #app .text img, #app pre img").length`))
	assert.NotContains(t, p.eval("document.title"), "owned")
	assert.Less(t, len(p.text("#messages")), 10_000, "the chat shows the beginning")
	p.do(`document.querySelector("#messages .agent button").click()`)
	p.wait(`document.querySelector("#messages .agent .text").textContent.length > 2000000`)
}

func TestKeysDoNothingWhileTyping(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.say("delete the odd weight")
	p.card("Message from ann")
	p.settled()
	p.do(`document.getElementById("message").focus()`)
	for _, key := range []string{"a", "d", "e"} {
		p.key(key)
	}
	assert.Equal(t, "ade", p.eval(`document.getElementById("message").value`))
	assert.Equal(t, "null", p.eval(`document.querySelector("#card form")`))
	p.do(`document.activeElement.blur()`)
	p.press("d")
	p.wait(`document.activeElement.id === "reason"`)
	p.key("a")
	p.key("Escape")
	p.card("Message from ann")
	assert.Equal(t, "card-title", p.eval(`document.activeElement.id`), "the focus goes somewhere sensible")
	p.decide("approve", "", "")
	p.card("weight_delete")
	first := p.eval(`document.getElementById("card-title").innerText`)
	p.press("n")
	p.wait(`document.getElementById("card-title").innerText !== ` + quote(first))
	p.press("n")
	p.wait(`document.getElementById("card-title").innerText === ` + quote(first))
	p.wait(`document.getElementById("live").textContent !== ""`)
}

func TestRulesAreEditedInThePage(t *testing.T) {
	s := serve(t)
	browser := chromium(t)
	ann, ben := enter(t, browser, s.links["ann"], false), enter(t, browser, s.links["ben"], true)
	for _, p := range []*tab{ann, ben} {
		p.click("[data-go=rules]")
		p.wait(`document.getElementById("rules-text").value.includes("_save_batch")`)
	}
	ann.picture("rules-1280-light")
	ann.click(`[data-ask="response"]`)
	ben.wait(`!document.querySelector('[data-ask="response"]').checked`)
	ann.click(`[data-ask="weight_delete"]`)
	ann.has("#rules-error", "Another rule still holds: tool *_delete: ask")

	rules := ann.eval(`document.getElementById("rules-text").value`)
	ben.write("#rules-text", strings.Replace(rules, "[", `[ {"tool":"a","then":"deny"},`, 1))
	ann.write("#rules-text", strings.Replace(rules, "[", `[ {"tool":"*","then":"allow"},`, 1))
	ann.do(`document.getElementById("policy").requestSubmit()`)
	ann.has("#policy-error", "may only deny")
	ann.picture("rules-refused-1280-light")
	ann.write("#rules-text", strings.Replace(rules, "[", `[ {"tool":"weight_delete","then":"deny"},`, 1))
	ann.do(`document.getElementById("policy").requestSubmit()`)
	ann.has("#rules-state", "Saved")
	ben.has("#policy-error", "changed meanwhile")
	ben.do(`document.getElementById("policy").requestSubmit()`)
	ben.has("#policy-error", "changed meanwhile")
	file, err := os.ReadFile(filepath.Join(s.dir, "policy.json"))
	require.NoError(t, err)
	assert.Equal(t, ann.eval(`document.getElementById("rules-text").value`), string(file))

	ann.click("#audited")
	ann.has("#confirm", "Switch auditing off?")
	ann.picture("auditing-off-1280-light")
	ann.click("#confirm-no")
	ann.wait(`document.getElementById("audited").checked && !document.getElementById("confirm").open`)
	ann.click("#audited")
	ann.click("#confirm-yes")
	ben.has("#unaudited", "Auditing is off")
	ben.click("[data-go=review]")
	ben.say("delete the odd weight")
	ben.has("#messages .agent", "denied by the policy")
	assert.Equal(t, 1, strings.Count(s.journal(), "AUDIT_CHANGED"), "only what was confirmed")
}

func TestThousandWait(t *testing.T) {
	dir := t.TempDir()
	j, f, err := openJournal(filepath.Join(dir, "journal.jsonl"), policyOf(t), gate.Options{Audited: true})
	require.NoError(t, err)
	for i := range 1000 {
		body := fmt.Sprintf(`{"from":"human","message":"number %d"}`, i)
		_, err := j.Propose(time.Now(),
			gate.Subject{Kind: gate.Context, Thread: "main", Run: fmt.Sprint("r", i), Label: fmt.Sprint("Message ", i),
				Body: json.RawMessage(body)})
		require.NoError(t, err)
	}
	require.NoError(t, f.f.Close())
	p := enter(t, chromium(t), serveFrom(t, dir).links["ann"], false)
	p.wait(`document.getElementById("count").innerText === "1000"`)
	p.has("#queue-more", "and 800 more")
	p.card("Message 0")
	p.decide("deny", "#reason", "")
	p.card("Message 1")
	p.wait(`document.getElementById("count").innerText === "999"`)
	p.picture("thousand-1280-light")
	// Whatever the page loaded came from its own server.
	assert.Equal(t, "", p.eval(`performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.`+
		`startsWith(location.origin)).join(" ")`))
}

func TestLooksRightAtEveryWidth(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.say("import my weights")
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card("weight_save_batch")
	p.say("delete the odd weight")
	p.say("tell me about my profile, and do not leave anything out of what you know about me")
	p.wait(`document.querySelectorAll("#queue li").length === 3`)
	p.settled()
	for _, width := range []int64{390, 820, 1280, 1680} {
		for _, dark := range []bool{false, true} {
			p.look(width, map[bool]int64{true: 844, false: 800}[width == 390], dark)
			name := fmt.Sprintf("%d-%s", width, map[bool]string{true: "dark", false: "light"}[dark])
			for _, part := range []string{"review", "rules", "chat"} {
				if part == "chat" && width > 820 {
					continue
				}
				p.do(`document.querySelector("[data-go=` + part + `]").click()`)
				p.picture(part + "-" + name)
				assert.Equal(t, fmt.Sprint(width), p.eval("document.documentElement.scrollWidth"), "%s %s: nothing sticks out",
					part, name)
				assert.Equal(t, "", p.eval(sticksOut), "%s %s", part, name)
			}
		}
	}
	assert.Equal(t, "", p.eval(nameless), "everything that can be operated has a name")
}

// sticksOut lists what is wider than the part of the page that it is in.
const sticksOut = `Array.from(document.querySelectorAll("#app button, #app input, #app textarea, #app pre, #app h2, #app p, #app li"))
	.filter((n) => n.checkVisibility() && !n.closest(".hush") && !n.classList.contains("skip"))
	.filter((n) => { const r = n.getBoundingClientRect(); return r.width && (r.right > innerWidth + 1 || r.left < -1); })
	.map((n) => n.outerHTML.slice(0, 80)).join("\n")`

// nameless lists what a screen reader could not name.
const nameless = `Array.from(document.querySelectorAll("button, input, textarea, select"))
	.filter((n) => !n.innerText?.trim() && !n.labels?.length && !n.ariaLabel).map((n) => n.outerHTML).join("\n")`

// A phone shows when a thing that waits expires, and can do all that a wide screen can.
func TestPhoneLacksNothing(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.look(390, 844, false)
	p.do(`document.querySelector("[data-go=chat]").click()`)
	p.say("delete the odd weight")
	p.do(`document.querySelector("[data-go=review]").click()`)
	p.card("Message from ann")
	p.has("#queue .when", "expires in")
	p.picture("context-390-light")
	p.decide("approve", "", "")
	p.card("weight_delete")
	p.wait(`document.querySelectorAll("#queue li").length === 2`)
	p.picture("two-390-light")
	assert.Equal(t, "false", p.eval(`document.documentElement.scrollWidth > innerWidth`),
		"nothing is wider than the phone")
	row := `new Set(Array.from(document.querySelectorAll("#card .actions .plain-button, #card [data-action=stop]"),` +
		` (n) => n.getBoundingClientRect().top)).size`
	assert.Equal(t, "1", p.eval(row), "the buttons below Approve stand in one row")

	// An event far below brings up what it is about.
	p.do(`(() => { const all = document.querySelectorAll("#events button"); all[all.length - 1].scrollIntoView(); ` +
		`all[all.length - 1].click(); })()`)
	p.wait(`document.getElementById("card-title").innerText.includes("Message from ann") && document.` +
		`getElementById("card-title").getBoundingClientRect().top > 0`)

	p.do(`document.querySelector("#queue button").click()`)
	p.card("weight_delete")
	p.settled()
	p.click("[data-action=stop]")
	p.wait(`document.getElementById("reason")`)
	p.write("#reason", "not today")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#events", "run stopped")
	p.wait(`document.querySelectorAll("#queue li").length === 0`)
}

// Whoever wrote a message, the page of another person does not say that it was them.
func TestNobodyIsToldThatTheyWroteWhatAnotherDid(t *testing.T) {
	s := serve(t)
	browser := chromium(t)
	ann := enter(t, browser, s.links["ann"], false)
	ben := enter(t, browser, s.links["ben"], true)
	ann.say("tell me about my profile")
	ben.wait(`document.querySelector("#messages .human")`)
	assert.NotContains(t, ben.eval(`document.querySelector("#messages .human").textContent`), "You")
}

// The clock of a host may run backwards. The page shows what happened in the order of the sequence.
func TestOrderIsThatOfTheSequence(t *testing.T) {
	dir := t.TempDir()
	session, f, err := openJournal(filepath.Join(dir, "journal.jsonl"), policyOf(t), gate.Options{Audited: true, TTL: time.Hour})
	require.NoError(t, err)
	for i, message := range []string{"first", "second", "third"} {
		_, err := session.Propose(time.Now().Add(-time.Duration(i)*time.Minute), gate.Subject{
			Kind: gate.Context, Thread: "main", Run: fmt.Sprint("r", i), Label: message,
			Body: json.RawMessage(`{"from":"human","message":"` + message + `"}`),
		})
		require.NoError(t, err)
	}
	require.NoError(t, f.f.Close())
	p := enter(t, chromium(t), serveFrom(t, dir).links["ann"], false)
	p.card("first")
	texts := func(selector string) string {
		return p.eval(`Array.from(document.querySelectorAll(` + quote(selector) + `), (n) => n.firstChild.` +
			`textContent).join(" ")`)
	}
	assert.Equal(t, "first second third", texts("#queue .what"))
	assert.Equal(t, "first second third", texts("#messages .text"))
	assert.Equal(t, "", p.eval(oddKeys))
}

// A label is the agent's to choose. However long and odd it is, the payload stays in sight beside the buttons.
func TestLabelHidesNothing(t *testing.T) {
	dir := t.TempDir()
	policy, err := gate.ParsePolicy([]byte(rules))
	require.NoError(t, err)
	session, f, err := openJournal(filepath.Join(dir, "journal.jsonl"), policy,
		gate.Options{Audited: true, TTL: 30 * time.Minute, Schema: check})
	require.NoError(t, err)
	_, err = session.Propose(time.Now(), gate.Subject{
		Kind: gate.Context, Thread: "main", Run: "run-1",
		Label: "<img src=x onerror=alert(1)> \u202egnp.exe\u200b " + strings.Repeat("W", 900),
		Body:  json.RawMessage(`{"from":"human","message":"wipe it all","model":"scripted-1","temperature":0.20,"tools":[]}`),
	})
	require.NoError(t, err)
	require.NoError(t, f.f.Close())
	p := enter(t, chromium(t), serveFrom(t, dir).links["ann"], false)
	for _, width := range []int64{1280, 390} {
		p.look(width, 844, false)
		p.card("<img src=x")
		p.picture(fmt.Sprintf("label-%d-light", width))
		assert.Equal(t, "true", p.eval(`document.querySelector("#card pre").getBoundingClientRect().top < document.`+
			`querySelector("#card .actions").getBoundingClientRect().top - 60`), "at %d the payload is out of "+
			"sight", width)
		assert.Equal(t, "false", p.eval(`/[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)`))
		assert.Equal(t, "0", p.eval(`document.querySelectorAll("#card img, #queue img").length`))
	}
}
