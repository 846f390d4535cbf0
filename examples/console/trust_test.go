package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// both takes a picture at the widths of a screen and of a phone.
func (p *tab) both(name string) {
	p.t.Helper()
	p.picture(name + "-1280")
	p.look(390, 844, false)
	p.picture(name + "-390")
	p.look(1280, 800, false)
}

// waiting says a message and approves it.
func (p *tab) waiting(message, title string) {
	p.t.Helper()
	p.say(message)
	p.card("Message from ann")
	p.decide("approve", "", "")
	p.card(title)
}

func TestLinkInASignedInBrowser(t *testing.T) {
	s := serve(t)
	browser := chromium(t)
	p := enter(t, browser, s.links["ann"], false)
	open := func(link string) {
		p.do(`location.hash = ""`)
		p.do(`location.hash = ` + quote(link[strings.Index(link, "#"):]))
	}
	open(s.links["ben"])
	p.has("#confirm", "This browser is signed in as ann. The link is for ben.")
	p.both("another-person")
	p.click("#confirm-no")
	p.wait(`!document.getElementById("confirm").open && document.getElementById("who").innerText === "ann"`)
	open(s.links["ben"])
	p.has("#confirm", "The link is for ben.")
	p.click("#confirm-yes")
	p.wait(`document.getElementById("who").innerText === "ben"`)

	// Links of before were used. So nobody gets in with what a history keeps.
	open(s.links["ann"])
	p.has("#said", "A link works once")
	assert.Equal(t, "ben", p.text("#who"))

	// A sign-out, and the removal of somebody, survive a restart.
	p.click("#logout")
	p.has("#sign-in", "Sign in")
	s.kill()
	s.start()
	p.run(chromedp.Reload())
	p.has("#sign-in", "Sign in")
	assert.Equal(t, "401", p.eval(`await fetch("/coach_audit/me").then((r) => r.status)`))
	p.run(chromedp.Navigate("http://" + s.addr + "/"))
	p.has("#sign-in", "Audit console") // the root leads to the page
}

func TestEditLeavesTheRestAlone(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.waiting("how many tablets?", "Deliver")
	assert.Contains(t, p.text("#card pre"), `1\u00a01/2\u202ftablets. می`+"\u200c"+`خواهم ❤️ 👩‍💻 od\u200bd`)
	p.whole()
	p.press("e")
	p.wait(`document.querySelector("#edit-text")`)
	const typed = "Take 1 1/2 tablets. می\u200cخواهم ❤\ufe0f 👩\u200d💻 odd. Is that clear?"
	assert.Equal(t, typed, p.eval(`document.querySelector("#edit-text").value`))
	p.has("#card .cut", "unusual spaces become plain ones")
	p.both("edit-text")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#card-error", "Nothing is changed yet")
	assert.NotContains(t, s.journal(), `ASSISTANT_FINAL_APPROVED`)
	p.write("#edit-text", strings.Replace(typed, "tablets", "pills", 1))
	p.has(".diff del", `1\u00a01/2`)
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#messages .agent", "pills")
	assert.Contains(t, s.journal(), `"finalText":"Take 1 1/2 pills. می`+"\u200c"+"خواهم ❤\ufe0f 👩\u200d💻 odd.")
}

// However an agent pads its arguments, nobody approves what they did not see.
func TestPaddingHidesNothing(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.waiting("be hostile", "note_delete")
	p.settled()
	pre := p.text("#card pre")
	assert.True(t, strings.HasPrefix(strings.Join(strings.Fields(pre), ""), `{"id":"all","padding":`),
		"short values come first: %.80s", pre)
	p.has("#card [data-action=approve]", "Show all to approve")
	p.both("padding")
	p.press("a")
	p.wait(`document.querySelector("#card").classList.contains("whole")`)
	p.has("#card [data-action=approve]", "Scroll down to approve")
	p.press("e") // an edit approves the rest too
	p.settled()
	assert.Equal(t, "null", p.eval(`document.querySelector("#card form")`))
	assert.NotContains(t, s.journal(), `"toolName":"note_delete","digest"`)
	assert.Equal(t, 1, strings.Count(p.text("#queue"), "note_delete"))
	p.do(`document.querySelector(".work").scrollTo(0, 1e9)`)
	p.has("#card [data-action=approve]", "Approve")
	p.press("a")
	p.card("Deliver")
}

// A body that is sent whole, but is taller than its box, is not approved either before it was shown.
func TestNothingIsApprovedBelowTheFold(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.waiting("import my weights", "weight_save_batch")
	p.look(1280, 600, false)
	p.has("#card [data-action=approve]", "Show all to approve")
	p.press("a")
	p.wait(`document.querySelector("#card").classList.contains("whole")`)
	p.has("#card [data-action=approve]", "Scroll down to approve")
	assert.NotContains(t, s.journal(), `"toolName":"weight_save_batch","digest"`)
	p.decide("approve", "", "")
	p.card("Continue")
}

func TestTimelineSaysWhatChanged(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.click("[data-go=rules]")
	p.wait(`document.getElementById("rules-text").value.includes("_save_batch")`)
	rules := p.eval(`document.getElementById("rules-text").value`)
	p.write("#rules-text", strings.Replace(rules, `"*_delete","then":"ask"`, `"*_delete","then":"deny"`, 1))
	p.do(`document.getElementById("policy").requestSubmit()`)
	p.has("#rules-state", "Saved")
	p.click("#audited")
	p.click("#confirm-yes")
	p.wait(`!document.getElementById("audited").checked`)
	p.click("#audited")
	p.wait(`document.getElementById("audited").checked`)
	p.click("[data-go=review]")
	p.has("#events .changed", "removed tool *_delete: ask")
	p.has("#events .changed", "added tool *_delete: deny")
	p.has("#events .changed", "auditing: on → off")
	p.has("#events .changed", "auditing: off → on")
	p.waiting("tell me about my profile", "Deliver")
	p.both("timeline")

	p.do(`(() => { const n = document.getElementById("search-show"); n.value = "rules"; n.dispatchEvent(new ` +
		`Event("change")); })()`)
	p.has("#found", "3 found.")
	p.write("#search-words", "DELETE deny")
	p.has("#found", "1 found.")
	p.picture("search-1280")
	csv := p.eval(`await fetch(document.getElementById("export-csv").href).then((r) => r.text())`)
	assert.Contains(t, csv, `,POLICY_CHANGED,,,,,,,ann,,,removed tool *_delete: ask; added tool *_delete: deny`)
	assert.Len(t, strings.Split(strings.TrimSpace(csv), "\n"), 2)
	p.write("#search-words", "")
	p.do(`(() => { const n = document.getElementById("search-show"); n.value = ""; n.dispatchEvent(new ` +
		`Event("change")); })()`)
	assert.Equal(t, s.journal(), p.eval(`await fetch(document.getElementById("export-jsonl").href).then((r) => r.`+
		`text())`), "the lines of the journal")
}

func TestFormsShowTheArgumentsAndStopIsConfirmed(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.waiting("delete the odd weight", "weight_delete")
	for _, key := range []string{"d", "r"} {
		p.press(key)
		p.wait(`document.querySelector("#card form")`)
		p.has("#card pre", `"id": "w-1118"`)
		p.picture("form-" + key + "-1280")
		p.key("Escape")
		p.wait(`!document.querySelector("#card form")`)
	}
	p.settled()
	p.click("[data-action=stop]")
	p.has("#card pre", `"id": "w-1118"`)
	p.has("#card form", "The whole run ends.")
	p.both("form-stop")
	p.key("Escape")

	p.click("#stop") // of the chat
	p.has("#confirm", "Stop the run?")
	p.picture("stop-1280")
	p.key("Escape")
	p.wait(`!document.getElementById("confirm").open`)
	assert.NotContains(t, s.journal(), "RUN_FINISHED")
	p.click("#stop")
	p.click("#confirm-yes")
	p.has("#events", "Run finished")
}

// A draft of megabytes is edited in parts. What nobody touched stays as it is.
func TestDraftOfMegabytesIsEdited(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.waiting("be hostile and large", "Deliver")
	p.settled()
	p.do(`document.querySelector("#card [data-action=approve]").click()`)
	p.wait(`document.querySelector("#card pre").textContent.length > 2000000`)
	p.do(`document.querySelector(".work").scrollTo(0, 1e9)`)
	p.whole()
	p.press("e")
	p.has("#card .parts", "Part 1 of ")
	assert.Equal(t, "true", p.eval(`document.querySelector("#edit-text").value.length <= 32000`))
	p.do(`Array.from(document.querySelectorAll("#card .parts button")).find((b) => b.innerText === "Next").click()`)
	p.has("#card .parts", "Part 2 of ")
	p.write("#find-text", "Cleared")
	p.write("#find-text", "cleared.")
	p.do(`Array.from(document.querySelectorAll("#card .parts button")).find((b) => b.innerText === "Find").click()`)
	p.has("#card .parts", "Part 1 of ") // it begins again
	value := p.eval(`document.querySelector("#edit-text").value`)
	p.write("#edit-text", strings.Replace(value, "cleared.", "emptied.", 1))
	p.has(".diff ins", "emptied.")
	p.picture("edit-large-1280")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#messages .agent", "shown")
	var final string
	for line := range strings.Lines(s.journal()) {
		var e struct{ FinalText string }
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		final += e.FinalText
	}
	assert.Contains(t, final, "emptied.")
	assert.Equal(t, 2<<20/41, strings.Count(final, "All work and no play makes a long draft. "))
}

func TestAlwaysAllow(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.waiting("delete the odd weight", "weight_delete")
	p.whole()
	p.press("w")
	p.wait(`document.getElementById("allow-rule")`)
	p.has("#card form", "Only this call, with exactly these arguments.")
	assert.JSONEq(t, `{"tool": "weight_delete", "thread": "main", "when": [{"at": "", "equals": {"id":"w-1118",`+
		`"day":"2026-11-18","weight":722}}], "then": "always"}`,
		p.eval(`document.getElementById("allow-rule").value`))
	inSight := `(() => { const r = document.getElementById("allow-rule"); const b = r.getBoundingClientRect(); ` +
		`return b.top > 56 && b.bottom <= document.querySelector("#card .actions").getBoundingClientRect().top + 1 && ` +
		`r.scrollHeight <= r.clientHeight + 1; })()`
	assert.Equal(t, "true", p.eval(inSight), "the rule is in sight")
	p.picture("always-1280")
	p.look(390, 844, false)
	p.wait(inSight)
	p.picture("always-390")
	p.do(`document.getElementById("review").scrollTo(0, 1e9)`)
	p.wait(`!` + inSight)
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#card form", "Read the whole rule, then send it again.")
	p.wait(inSight)
	p.look(1280, 800, false)
	narrow := p.eval(`document.getElementById("allow-rule").value`)
	p.write("#allow-rule", strings.Replace(narrow, "w-1118", "w-1", 1))
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#card-error", "Another rule still holds: tool *_delete: ask")
	p.do(`(() => { const n = document.getElementById("allow-2"); n.selectedIndex = n.options.length - 1; n.` +
		`dispatchEvent(new Event("change")); })()`)
	p.has("#card form", "weight_delete with any weight, and no other arguments.")
	p.wait(`document.getElementById("card-error").hidden`) // the error was about the rule before
	assert.Contains(t, p.eval(`document.getElementById("allow-rule").value`), `{"at": "", "count_under": 4}`)
	p.picture("always-wider-1280")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.card("note_delete")
	p.has("#messages", "Approved by ann · done")
	rules, err := os.ReadFile(filepath.Join(s.dir, "policy.json"))
	require.NoError(t, err)
	assert.Contains(t, string(rules), `{"at":"/weight","exists":true}`)
	p.decide("deny", "#reason", "keep it")
	p.card("Deliver")
	p.decide("approve", "", "")

	p.waiting("delete the odd weight", "note_delete") // the other call passes now
	p.has("#events", "by a rule")
	passed := 0
	for line := range strings.Lines(s.journal()) {
		if strings.Contains(line, `"TOOL_CALL_APPROVED"`) && strings.Contains(line, `: always"`) &&
			strings.Contains(line, `"by":"policy"`) {
			passed++
		}
	}
	assert.Equal(t, 1, passed, "one call passed by the new rule")
}

// What the page makes of a body, function by function.
func TestBodiesInThePage(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	t.Run("a suggested rule is as narrow as its call", func(t *testing.T) { suggestedRuleIsAsNarrowAsItsCall(t, p) })
	t.Run("the parts of a response", func(t *testing.T) { partsOfAResponse(t, p) })
	t.Run("an edit replaces only what was changed", func(t *testing.T) { editReplacesOnlyWhatWasChanged(t, p) })
	t.Run("the fields of a form", func(t *testing.T) { fieldsOfAForm(t, p) })
}

// What the page offers for a rule that always allows a call accepts that call, and no more than its label says.
func suggestedRuleIsAsNarrowAsItsCall(t *testing.T, p *tab) {
	p.click("[data-go=rules]")
	p.wait(`document.getElementById("rules-text").value.includes("_save_batch")`)
	var pretty bytes.Buffer
	const args = `{"command":"git status -s","dir/~":"x","n":1.50,"s":"\u202e\",\n  \"","deep":{"k":[1],"n":{}}}`
	require.NoError(t, json.Indent(&pretty, []byte(args), "", "  "))
	var offered []struct {
		Name    string
		Choices []struct{ Label, Condition string }
	}
	const module = `(await import("/coach_audit/page/decide.js"))`
	found := p.eval(`JSON.stringify(` + module + `.suggest(` + quote(pretty.String()) + `))`)
	require.NoError(t, json.Unmarshal([]byte(found), &offered), found)
	var labels []string
	exact := []string{`{"at": "", "count_under": 6}`}
	for _, arg := range offered {
		exact = append(exact, arg.Choices[0].Condition)
		for _, c := range arg.Choices {
			labels = append(labels, arg.Name+": "+c.Label)
		}
	}
	assert.Equal(t, []string{`command: exactly "git status -s"`, "command: commands: git status *", "command: anything",
		`dir/~: exactly "x"`, "dir/~: anything", "n: exactly 1.50", "n: anything", `s: exactly "\u202e\",\n  \""`,
		"s: anything", `deep: exactly {"k": [1],"n": {}}`, "deep: anything"}, labels)

	allows := func(when []string, args string) bool {
		policy, err := gate.ParsePolicy([]byte(`[{"tool":"run","when":[` + strings.Join(when, ",") + `],"then":"always"}]`))
		require.NoError(t, err)
		then, _ := policy.Judge(gate.Subject{Kind: gate.Tool, Tool: "run", Body: json.RawMessage(args)})
		return then == gate.Approved
	}
	wider := slices.Clone(exact)
	wider[1] = offered[0].Choices[1].Condition
	for _, when := range [][]string{exact, wider} {
		assert.True(t, allows(when, args))
		for _, change := range [][2]string{{"status -s", "status; rm x"}, {"1.50", "2"}, {`"n":{}`, `"n":{"a":1}`},
			{`{"command"`, `{"force":true,"command"`}, {`,"n":1.50`, `,"m":1.50`}, {`"x"`, `"y"`}, {`\u202e`, ""}} {
			assert.False(t, allows(when, strings.Replace(args, change[0], change[1], 1)), change)
		}
	}
	another := strings.Replace(args, "status -s", "status", 1)
	assert.Equal(t, []bool{false, true}, []bool{allows(exact, another), allows(wider, another)})
	assert.Equal(t, "[]", p.eval(`JSON.stringify(`+module+`.suggest("{}"))`))
}

func TestPayloadIsEditedInAForm(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.say("tell me about my profile")
	p.card("Message from ann")
	p.whole()
	p.press("e")
	p.wait(`document.querySelector("#field-0")`)
	assert.Equal(t, "Speaker from|Message message|Model model|Temperature temperature|Tools tools",
		p.eval(`Array.from(document.querySelectorAll("#card .field label"), (n) => n.innerText).join("|")`))
	assert.Equal(t, "scripted-1,scripted-2",
		p.eval(`Array.from(document.querySelector("#field-2").options, (o) => o.innerText).join()`))
	assert.Equal(t, "0.20", p.eval(`document.querySelector("#field-3").value`))
	p.both("form")
	p.write("#field-3", "0,5")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.has("#card-error", "The value of temperature is not JSON.")
	p.write("#field-3", "0.20")
	p.do(`(() => { const n = document.getElementById("field-2"); n.selectedIndex = 1; n.dispatchEvent(new ` +
		`Event("input")); })()`)
	p.has(".diff ins", "scripted-2")
	p.do(`document.querySelector("#card form").requestSubmit()`)
	p.card("Deliver")
	assert.Contains(t, s.journal(),
		`"payloadEdits":{"from":"human","message":"tell me about my profile","model":"scripted-2","temperature":0.20,`+
			`"tools":[`)
}

// The parts of a response are shown as they are written, and hide nothing.
func partsOfAResponse(t *testing.T, p *tab) {
	for _, tt := range []struct{ body, cut, want string }{
		{"{\n  " + `"text": "one\r\ntwo\t\"\\n\u202e\r\u0007",` +
			"\n  " + `"a2ui": {` + "\n    " + `"k": 1.10` + "\n  }\n}", "false",
			`{"text": {"text": "one\ntwo\t\"\\n\\u202e\\x0d\\x07", "size": 25, "cut": false},
			"a2ui": {"text": "{\n  \"k\": 1.10\n}", "size": 15, "cut": false}}`},
		{"{\n  " + `"a2ui": 1,` + "\n  " + `"text": "a \"b\`, "true",
			`{"a2ui": {"text": "1", "size": 1, "cut": false}, "text": {"text": "a \"b\\", "size": 9, "cut": true}}`},
		{"{\n  " + `"text": "a",` + "\n  " + `"a2`, "true",
			`{"text": {"text": "a", "size": 1, "cut": false}, "a2": {"text": "", "size": 9, "cut": true}}`},
	} {
		assert.JSONEq(t, tt.want, p.eval(`JSON.stringify((await import("/coach_audit/page/json.js")).responseOf({ text: `+
			quote(tt.body)+`, size: 9, cut: `+tt.cut+` }))`))
	}
}

// An edit replaces what the person changed: of a text, the lines that they changed.
func editReplacesOnlyWhatWasChanged(t *testing.T, p *tab) {
	const body = `{"z":1.50,"text":"1\u00a02\u200b","a":{"k":9007199254740993},"list":[],` +
		`"two":"a\u200bb\r\n\u00a0c\nx\nx\u00a0","n\u202e":"1"}`
	patch := func(changes string) string {
		var pretty bytes.Buffer
		require.NoError(t, json.Indent(&pretty, []byte(body), "", "  "))
		return p.eval(`await (async () => { const { patch } = await import("/coach_audit/page/json.js"); ` +
			`try { return patch({ json: ` +
			quote(pretty.String()) + `, texts: {"text": "1 2", "two": "ab\n c\nx\nx ", "n\u202e": "1"} }, ` + changes +
			`); } catch (e) { return e.message; } })()`)
	}
	replaced := func(olds ...string) string {
		return strings.NewReplacer(olds...).Replace(body)
	}
	for changes, want := range map[string]string{
		`{}`:                                   body,
		`{"z": " 2.50 "}`:                      replaced("1.50", "2.50"),
		`{"two": quoted("ab\n c\nx\nx ")}`:     replaced(`\u00a0`, "\u00a0", `\u200bb`, "\u200bb", `1\u00a0`, `1\u00a0`),
		`{"two": quoted("x \nab!\nx\n c")}`:    replaced(`a\u200bb\r\n\u00a0c\nx\nx\u00a0`, "x\u00a0\\nab!\\nx\\n\u00a0c"),
		`{"new": "[1.0]"}`:                     strings.TrimSuffix(body, "}") + `,"new":[1.0]}`,
		`{"z": null, "list": null}`:            replaced(`"z":1.50,`, "", `"list":[],`, ""),
		`{"z": "1,5"}`:                         "The value of z is not JSON.",
		`{"n\u202e": ""}`:                      `The value of n\u202e is not JSON.`,
		`{"z": "1,\"other\":2"}`:               "The value of z is not JSON.",
		`{"a": "{\"k\":9007199254740995.10}"}`: replaced("9007199254740993", "9007199254740995.10"),
	} {
		got := patch(strings.ReplaceAll(changes, "quoted", "JSON.stringify"))
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(got)) == nil {
			got = compact.String()
		}
		assert.Equal(t, want, got, changes)
	}
}

// A form has the values as they are written, and what the schema says about them.
func fieldsOfAForm(t *testing.T, p *tab) {
	fields := func(args, more string) string {
		var pretty bytes.Buffer
		require.NoError(t, json.Indent(&pretty, []byte(args), "", "  "))
		return p.eval(`JSON.stringify((await import("/coach_audit/page/editor.js")).fieldsOf({ json: ` +
			quote(pretty.String()) + more + ` }))`)
	}
	const schema = `{"properties":{"unit":{"title":"Unit","enum":["kg","lb"]},"note":{"type":"string",` +
		`"description":"Optional."},"big":{"type":"boolean"},"n":{"enum":[1.5]}}}`
	got := fields(`{"n":1.50,"unit":"kg","ok":true,"none":null,"list":[1,{"a":2}],"t\u202e":"12"}`,
		`, texts: {"unit": "kg", "t\u202e": "1 2"}, schema: `+schema)
	assert.JSONEq(t, `[
		{"key": "n", "label": "n", "type": "number", "value": "1.50", "choices": null, "absent": false},
		{"key": "unit", "label": "Unit", "type": "text", "value": "kg", "choices": ["\"kg\"", "\"lb\""], "absent": false},
		{"key": "ok", "label": "ok", "type": "boolean", "value": "true", "choices": null, "absent": false},
		{"key": "none", "label": "none", "type": "json", "value": "null", "choices": null, "absent": false},
		{"key": "list", "label": "list", "type": "json", "value": "[\n  1,\n  {\n    \"a\": 2\n  }\n]", "choices": null,
			"absent": false},
		{"key": "t\u202e", "label": "t\\u202e", "type": "text", "value": "1 2", "choices": null, "absent": false},
		{"key": "big", "label": "big", "type": "boolean", "value": "", "choices": null, "absent": true},
		{"key": "note", "label": "note", "help": "Optional.", "type": "text", "value": "", "choices": null, "absent": true}
	]`, got)
	for _, args := range []string{`{"rows":[{"a":1}]}`, `{"text":"` + strings.Repeat("x", 4096) + `"}`} {
		assert.Equal(t, "null", fields(args, ""), "not flat enough: JSON")
	}
	assert.NotEqual(t, "null", fields(`{"a":1}`, `, texts: {}`), "without a schema")
}

func TestNotifications(t *testing.T) {
	s := serve(t)
	ctx := chromium(t)
	p := &tab{t, ctx}
	// A browser that asks, and a person who looks elsewhere.
	_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.asked = 0; window.notes = [];
		window.Notification = class { constructor(title, o) { window.notes.push(title + "|" + o.body); } close() {} };
		Notification.permission = localStorage.getItem("granted") || "default";
		Notification.requestPermission = async () => { window.asked++; localStorage.setItem("granted", "granted"); return Notification.permission = "granted"; };
		document.hasFocus = () => false;`})
	require.NoError(t, err)
	p.run(chromedp.Navigate(s.links["ann"]))
	p.look(1280, 800, false)
	p.wait(`document.getElementById("app").dataset.link === "open"`)
	p.say("tell me about my profile")
	p.card("Message from ann")
	assert.Equal(t, "0 0", p.eval(`window.asked + " " + window.notes.length`), "nobody asked for any")
	p.click("#notify")
	p.wait(`window.asked === 1 && document.getElementById("notify").hidden`)
	p.decide("approve", "", "")
	p.wait(`window.notes.length === 1`)
	assert.Contains(t, p.eval(`window.notes[0]`), "Draft response: Deliver")
	p.run(chromedp.Reload())
	p.card("Deliver")
	p.do(`localStorage.removeItem("granted")`) // as if the person had closed the question without an answer
	p.run(chromedp.Reload())
	p.card("Deliver")
	assert.Equal(t, "true 0", p.eval(`document.getElementById("notify").hidden + " " + window.asked`), "asked for once")
}

func TestRulesAreExplainedAndTried(t *testing.T) {
	s := serve(t)
	p := enter(t, chromium(t), s.links["ann"], false)
	p.waiting("import my weights", "weight_save_batch")
	p.click("[data-go=rules]")
	p.has(".syntax", "How to write a rule")
	p.wait(`document.getElementById("rules-text").value.includes("_save_batch")`)
	rules := p.eval(`document.getElementById("rules-text").value`)
	p.write("#rules-text", strings.Replace(rules, `{"tool":"*_save_batch","then":"ask"}`,
		`{"tool":"*_save_batch","when":[{"at":"/rows","any":{"at":"/weight","over":500}}],"then":"deny"}`, 1))
	p.has("#rules-trial", "Of the last 2 calls, these rules would have allowed 1, denied 1.")
	p.has("#rules-trial", "weight_save_batch asked → denied")
	p.both("rules")
	p.do(`document.getElementById("rules-trial").scrollIntoView({block: "center"})`)
	p.picture("rules-tried-1280")
	p.look(390, 844, false)
	p.do(`document.getElementById("rules-trial").scrollIntoView({block: "center"})`)
	p.picture("rules-tried-390")
	p.look(1280, 800, false)
	p.write("#rules-text", strings.Replace(rules, "[",
		`[{"tool":"bash","when":[{"at":"/command","like":"git *"}],"then":"allow"},`, 1))
	p.has("#rules-warnings", "/command like \"git *\" is probably a shell line")
	p.do(`document.getElementById("rules-warnings").scrollIntoView({block: "center"})`)
	p.picture("rules-warned-1280")
	p.write("#rules-text", strings.Replace(rules, "[",
		`[{"tool":"x","when":[{"at":"/rows/*/x","over":1}],"then":"deny"},`, 1))
	p.has("#policy-error", `write {"at": "/rows", "any": {"at": "/x", …}}`)
	assert.NotContains(t, s.journal(), "POLICY_CHANGED", "nothing was saved")
	p.do(`document.getElementById("rules-reset").click()`)
	p.has("#rules-kept", "keeps them in a file")
	assert.Equal(t, fmt.Sprint(390), func() string {
		p.look(390, 844, false)
		return p.eval("document.documentElement.scrollWidth")
	}())
}

// A thing that nobody answers in time goes to the next approver, and then it expires.
func TestTimeLimitIsShown(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.json"),
		[]byte(`[{"tool":"*_delete","then":"ask","within":"3s","escalate":"on call"}]`), 0o600))
	p := enter(t, chromium(t), serveFrom(t, dir).links["ann"], false)
	p.waiting("delete the odd weight", "weight_delete")
	p.has("#queue .when", "escalates in")
	p.has("#card .facts", "Next asked\non call")
	p.has("#card .facts", "Escalated to\non call")
	p.has("#queue .when", "expires in")
	p.both("escalated")
	p.has("#events", "Expired")
	p.has("#card .stand", "Expired: nobody decided in time")
}
