package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// waitLimit is how long a test waits for what must come; it is no measure of anything.
const waitLimit = 60 * time.Second

// chromium opens a window of the test's own, or skips the test where there is no browser.
func chromium(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is slow to start")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the server is killed with a signal that Windows does not have")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("there is no chromium or chrome on this machine: install one (on Debian: apt-get install chromium) to " +
			"run the tests of the page")
	}
	shared.Do(func() {
		shared.profile, shared.err = os.MkdirTemp("", "chromium-")
		if shared.err == nil {
			shared.ctx, shared.cancel = launch(program, shared.profile)
			shared.err = chromedp.Do(shared.ctx)
		}
	})
	require.NoError(t, shared.err, "start the browser")
	return window(t, shared.ctx)
}

// shared is the browser of all tests: one takes seconds to start.
var shared struct {
	sync.Once
	ctx     context.Context
	cancel  context.CancelFunc
	profile string
	err     error
}

func launch(program, profile string) (context.Context, context.CancelFunc) {
	allocator, end := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.UserDataDir(profile),
		chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-renderer-backgrounding", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true),
		chromedp.Flag("disable-background-timer-throttling", true), chromedp.WSURLReadTimeout(waitLimit),
	)
	ctx, cancel := chromedp.NewContext(allocator)
	return ctx, func() {
		chromedp.Cancel(ctx) // waits, so that the profile can be removed
		cancel()
		end()
	}
}

// closeBrowser ends the browser, if a test started it.
func closeBrowser() {
	if shared.cancel != nil {
		shared.cancel()
		os.RemoveAll(shared.profile)
	}
}

// window opens a window with cookies and storage of its own.
func window(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithNewWindow(true))
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx), "open a window")
	return ctx
}

// tab is one page of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// enter opens a link: in the test's first window, or apart, in another one with cookies of its own.
func enter(t *testing.T, browser context.Context, link string, apart bool) *tab {
	t.Helper()
	ctx := browser
	if apart {
		ctx = window(t, browser)
	}
	p := &tab{t, ctx}
	p.run(chromedp.Navigate(link))
	p.look(1280, 800, false)
	p.wait(`document.getElementById("app").dataset.link === "open"`)
	return p
}

func (p *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, steps...))
}

// wait waits until an expression is true, also over a reload.
func (p *tab) wait(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	watch := `new Promise((done) => { const look = () => ((` + expression +
		`) ? done(true) : setTimeout(look, 30)); look(); })`
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](watch, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			p.picture("failed")
			p.t.Fatalf("wait for %s: %v\nthe page says:\n%s", expression, err, p.text("body"))
		}
		runtime.Gosched()
	}
}

// has waits until an element shows a text.
func (p *tab) has(selector, text string) {
	p.t.Helper()
	p.wait(`Array.from(document.querySelectorAll(` + quote(selector) +
		`)).some((n) => n.checkVisibility() && n.innerText.includes(` + quote(text) + `))`)
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return p.eval(`document.querySelector(` + quote(selector) + `)?.innerText ?? ""`)
}

func (p *tab) eval(expression string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	s, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(async () => String(`+expression+`))()`,
		chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return s
}

// do evaluates an expression for what it does.
func (p *tab) do(expression string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](expression))
}

// press sends a key to the page once the card has settled.
func (p *tab) press(key string) {
	p.t.Helper()
	p.settled()
	p.key(key)
}

// key sends a key as a keyboard does: what the page does with it going down decides whether it becomes text.
func (p *tab) key(key string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	text, code := key, int64(strings.ToUpper(key)[0])
	if key == "Escape" {
		text, code = "", 27
	}
	for _, event := range []input.DispatchKeyEventParams{
		{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: text, WindowsVirtualKeyCode: code},
		{Type: input.DispatchKeyEventTypeKeyUp, Key: key, WindowsVirtualKeyCode: code},
	} {
		_, err := chromedp.Call(ctx, input.DispatchKeyEvent, event)
		require.NoError(p.t, err)
	}
}

// settled waits until the card shows the selected item for long enough to be decided.
func (p *tab) settled() {
	p.t.Helper()
	p.wait(`document.querySelector("#card:not([aria-busy]) [data-action=approve]")`)
	p.wait(`document.getElementById("card").dataset.ready === "true"`)
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(selector))
}

// write replaces the text of a field.
func (p *tab) write(selector, text string) {
	p.t.Helper()
	p.do(`(() => { const n = document.querySelector(` + quote(selector) + `); n.focus(); n.value = ` + quote(text) +
		`; n.dispatchEvent(new Event("input", {bubbles: true})); })()`)
}

func (p *tab) say(message string) {
	p.t.Helper()
	p.write("#message", message)
	p.do(`document.getElementById("say").requestSubmit()`)
	p.wait(`document.getElementById("message").value === ""`)
	p.do(`document.activeElement.blur()`)
}

func (p *tab) look(width, height int64, dark bool) {
	p.t.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	p.run(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(1)))
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(p.t, err)
}

// picture keeps a screenshot in the folder SIDECOACH_SCREENSHOTS names, or in the test's own.
func (p *tab) picture(name string) {
	p.t.Helper()
	dir := os.Getenv("SIDECOACH_SCREENSHOTS")
	if dir == "" {
		dir = p.t.TempDir()
	}
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// whole shows all of the item in the card, as somebody must before approving.
func (p *tab) whole() {
	p.t.Helper()
	p.wait(`(() => {
		const card = document.getElementById("card");
		if (card.ariaBusy === "true" || card.dataset.ready !== "true") return false;
		if (card.dataset.shown === "true") return true;
		card.querySelector("[data-action=approve]").click();
		return false;
	})()`)
}

// decide presses the key of an action. If the action has a form, it fills in a field and sends the form.
func (p *tab) decide(action, field, text string) {
	p.t.Helper()
	p.settled()
	if action == "approve" || action == "edit" {
		p.whole()
	}
	p.press(map[string]string{"approve": "a", "edit": "e", "deny": "d", "respond": "r", "allow": "w"}[action])
	if field == "" {
		return
	}
	if field == "#edit-body" {
		p.asJSON()
	}
	p.wait(`document.querySelector(` + quote(field) + `)`)
	p.write(field, text)
	p.do(`document.querySelector("#card form").requestSubmit()`)
}

// asJSON edits as JSON what is edited as a form.
func (p *tab) asJSON() {
	p.t.Helper()
	p.wait(`document.querySelector("#card form")`)
	p.do(`(() => { const b = document.getElementById("edit-mode"); if (b?.innerText === "Edit as JSON") b.click(); })()`)
}

// card waits until an item with this title is the one to decide.
func (p *tab) card(title string) {
	p.t.Helper()
	p.wait(`document.getElementById("card-title")?.innerText.includes(` + quote(title) +
		`) && document.querySelector("#card [data-action=approve]")`)
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(data)
}
