// The item that is looked at, with exactly what would be approved, and the ways to decide it.

import { $, announce, el, size, trouble } from "./dom.js";
import { show } from "./diff.js";
import { beside } from "./queue.js";
import { Lost, place } from "./socket.js";
import { kinds, marks, onChange, select, standing, state, title } from "./state.js";
import { age, clock, expiry, soon } from "./time.js";

const settle = 400; // ms an item must have been on screen before a key or click decides it

let ask; // sends a command
let bodies = null; // of the selected item, as the server sent them
let mode = "view"; // view, edit, deny, respond, stop
let since = 0; // when the card showed what it shows
let ready = 0; // timer that says in the document that this was long enough ago
let busy = false;
let notice = { id: "", text: "" }; // what happened to an item under somebody's hands
let loading = 0;

export const current = () => state.items.get(state.selected);

async function fetchItem(id, all) {
	const url = place("item");
	url.searchParams.set("id", id);
	if (all) url.searchParams.set("all", "1");
	const r = await fetch(url);
	const data = await r.json();
	if (!r.ok) throw new Error(data.error.message);
	return data;
}

// load shows the selected item.
async function load({ focus = false } = {}) {
	const card = $("card");
	const it = current();
	const turn = ++loading;
	mode = "view";
	bodies = null;
	if (!it && !state.selected) {
		card.replaceChildren(
			el("div", { class: "nothing" }, el("h2", { id: "card-title", tabindex: "-1" }, "Nothing waits for you"), el("p", { class: "aside" }, "What the agent wants to do shows up here before it happens.")),
		);
		if (focus) $("card-title").focus();
		return;
	}
	try {
		const got = await fetchItem(state.selected, false);
		if (turn !== loading) return;
		bodies = got;
		draw();
		if (focus) $("card-title").focus({ preventScroll: true });
	} catch (e) {
		if (turn !== loading) return;
		card.replaceChildren(
			el("h2", { id: "card-title", tabindex: "-1" }, it ? title(it) : "Not there any more"),
			el("p", { class: "trouble", role: "alert" }, e.message),
			el("div", { class: "row" }, el("button", { type: "button", class: "plain-button", click: () => load() }, "Try again")),
		);
	}
}

function fact(name, ...value) {
	return el("div", {}, el("dt", {}, name), el("dd", {}, ...value));
}

// part shows a text of the item, and offers the rest of a long one.
function part(name, p, kind = "") {
	const pre = el("pre", { class: `code ${kind}`, tabindex: "0", role: "group", "aria-label": name }, p.text);
	const box = el("div", { class: "part" }, el("h3", {}, name, el("span", { class: "aside" }, ` ${size(p.size)}`)), pre);
	if (p.cut) {
		const more = el("button", { type: "button", class: "plain-button small", click: () => loadAll(more) }, `Show all ${size(p.size)}`);
		box.append(el("p", { class: "cut" }, `You see the first ${size(new Blob([p.text]).size)} of ${size(p.size)}. `, more));
	}
	return box;
}

async function loadAll(button) {
	const id = state.selected;
	if (button) {
		button.disabled = true;
		button.textContent = "Loading…";
	}
	const got = await fetchItem(id, true);
	if (state.selected !== id) return false;
	bodies = got;
	if (button) draw();
	return true;
}

function content(it) {
	const b = bodies;
	const out = [];
	if (it.kind === "response") {
		out.push(part("Draft", b.text, "prose"));
		if (b.body.text) out.push(part("Interface (A2UI)", b.body));
		if (b.final) out.push(b.final.cut || b.text.cut ? part("Final", b.final, "prose") : show(b.text.text, b.final.text, "What the edit changed"));
		if (b.final && (b.body.text || b.edited)) out.push(show(b.body.text, b.edited?.text || "", "What the edit changed in the interface"));
	} else {
		out.push(part(it.kind === "tool" ? "Arguments" : "Payload", b.body));
		if (b.edited) out.push(show(b.body.text, b.edited.text, "What the edit changed"));
	}
	if (b.result) out.push(part("Result", b.result));
	return out;
}

function button(label, key, action, kind = "plain-button") {
	return el("button", { type: "button", class: kind, "data-action": action, click: (e) => e.detail < 2 && start(action) }, label, el("kbd", { "aria-hidden": "true" }, key));
}

function draw() {
	const card = $("card");
	const it = current() || bodies.item;
	const open = it.status === "pending";
	const held = card.contains(document.activeElement);
	since = performance.now();
	card.dataset.ready = "false";
	clearTimeout(ready);
	ready = setTimeout(() => (card.dataset.ready = "true"), settle);
	const rows = [
		fact("Thread", it.thread),
		fact("Run", it.run),
		it.call && fact("Call", it.call),
		fact("Proposed", el("span", { "data-live": "age" }, age(it.at)), ` at ${clock(it.at)}`),
		it.rule && fact(open ? "Why it asks" : "Rule", it.rule),
		fact("Digest", el("code", { title: it.digest }, it.digest.slice(0, 16))),
	].filter(Boolean);
	card.className = `card is-${it.status}`;
	card.replaceChildren(
		el(
			"header",
			{},
			el("p", { class: "eyebrow" }, el("span", { class: `kind ${it.kind}` }, kinds[it.kind]), open ? el("span", { class: "expiry", "data-live": "expiry" }, expiry(it.expires)) : el("span", { class: `stand is-${it.status}` }, `${marks[it.status] || ""} ${standing(it)}`)),
			el("h2", { id: "card-title", tabindex: "-1" }, title(it)),
			it.kind === "tool" && it.label ? el("p", { class: "label", tabindex: it.label.length > 120 ? "0" : null }, it.label) : null,
			mode === "view" ? el("dl", { class: "facts" }, ...rows) : null,
		),
	);
	if (mode === "view") card.append(el("div", { class: "content" }, ...content(it)));
	const error = el("p", { class: "trouble", role: "alert", id: "card-error", hidden: true });
	if (notice.id === it.id) trouble(error, notice.text);
	if (open && mode === "view") {
		card.append(
			error,
			el(
				"footer",
				{ class: "actions" },
				button({ context: "Approve and send", tool: "Approve", response: "Approve and show" }[it.kind], "A", "approve", "primary"),
				button("Edit", "E", "edit"),
				button("Deny", "D", "deny"),
				it.kind === "tool" ? button("Answer", "R", "respond") : null,
				el("button", { type: "button", class: "quiet push", "data-action": "stop", click: (e) => e.detail < 2 && start("stop") }, "Stop", el("span", { class: "wide" }, " run")),
			),
		);
	} else if (open) {
		card.append(forms[mode](it, error));
	} else {
		card.append(error);
		const next = beside("", 1);
		if (next) card.append(el("footer", { class: "actions" }, el("button", { type: "button", class: "plain-button", click: () => step(1) }, "Next that waits", el("kbd", { "aria-hidden": "true" }, "N"))));
	}
	if (held && !card.contains(document.activeElement)) $("card-title").focus({ preventScroll: true });
}

// kept holds what was typed into an edit, also over a reload.
const kept = {
	key: (it, what) => `${what} ${it.id} ${it.digest}`,
	get: (it, what) => sessionStorage.getItem(kept.key(it, what)),
	set(it, what, text) {
		try {
			sessionStorage.setItem(kept.key(it, what), text);
		} catch {
			// The browser keeps no more; the text stays in its field.
		}
	},
	drop: (it) => ["body", "text", "result"].forEach((w) => sessionStorage.removeItem(kept.key(it, w))),
};

function field(it, what, name, initial, rows) {
	const box = el("textarea", { id: `edit-${what}`, class: what === "text" ? "prose" : "code", rows, spellcheck: "false", autocomplete: "off" });
	box.value = kept.get(it, what) ?? initial;
	box.addEventListener("input", () => kept.set(it, what, box.value));
	return [el("label", { for: box.id }, name), box];
}

function form(error, label, kind, send, ...inside) {
	const f = el("form", { class: "decide" }, ...inside, error);
	f.append(
		el(
			"footer",
			{ class: "actions" },
			el("button", { type: "submit", class: kind }, label, el("kbd", { "aria-hidden": "true" }, "Ctrl ↵")),
			el("button", { type: "button", class: "plain-button", click: back }, "Back", el("kbd", { "aria-hidden": "true" }, "Esc")),
		),
	);
	f.addEventListener("submit", (e) => {
		e.preventDefault();
		send();
	});
	f.addEventListener("keydown", (e) => {
		if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
			e.preventDefault();
			f.requestSubmit();
		}
	});
	return f;
}

const lineCount = (text, least, mostRows) => Math.max(least, Math.min(mostRows, text.split("\n").length + 1));

const forms = {
	edit(it, error) {
		const fields = [];
		const changes = el("div", {});
		const pairs = [];
		const add = (what, name, before, initial) => {
			const [label, box] = field(it, what, name, initial, lineCount(initial, 5, 15));
			fields.push(label, box);
			pairs.push([name, before, box]);
			box.addEventListener("input", compare);
		};
		let timer = 0;
		const compare = () => {
			clearTimeout(timer);
			timer = setTimeout(drawChanges, 120);
		};
		const drawChanges = () => changes.replaceChildren(...pairs.map(([name, before, box]) => show(before, box.value, pairs.length > 1 ? `Changes of ${name.toLowerCase()}` : "Changes")));
		let note = null;
		if (it.kind === "response") {
			const w = bodies.write;
			add("text", "Text", bodies.text.text, w.text);
			if (w.without) note = el("p", { class: "cut" }, `${w.without} ${w.without === 1 ? "character" : "characters"} nobody could see are left out of what you edit.`);
			if (bodies.body.text) add("body", "Interface (A2UI)", bodies.body.text, bodies.body.text);
		} else {
			add("body", it.kind === "tool" ? "Arguments" : "Payload", bodies.body.text, bodies.body.text);
		}
		drawChanges();
		const send = () => {
			const value = (what) => $(`edit-${what}`)?.value;
			const command = it.kind === "response" ? { text: value("text"), body: value("body") } : { body: value("body") };
			if (pairs.every(([, before, box]) => box.value === before)) return trouble(error, "Nothing is changed yet. To let it go on as it is, go back and approve.");
			decide(it, { action: "edit", ...command }, error);
		};
		return form(error, it.kind === "context" ? "Edit and send" : it.kind === "tool" ? "Approve with this edit" : "Show this instead", "primary", send, ...fields, note, changes);
	},
	deny(it, error) {
		const reason = el("input", { id: "reason", autocomplete: "off", maxlength: "1000" });
		const help = it.kind === "context" ? "The run ends, and nothing is sent." : "The agent can read it.";
		return form(error, "Deny", "danger", () => decide(it, { action: "deny", reason: reason.value }, error), el("label", { for: "reason" }, "Reason", el("span", { class: "aside" }, ` optional. ${help}`)), reason);
	},
	respond(it, error) {
		const [label, box] = field(it, "result", "Result", "{}", 6);
		return form(error, "Send this result", "primary", () => decide(it, { action: "respond", body: box.value }, error), el("p", { class: "aside" }, "The tool is not executed. The agent reads this as its result, any JSON value."), label, box);
	},
	stop(it, error) {
		const reason = el("input", { id: "reason", autocomplete: "off", maxlength: "1000" });
		return form(error, "Stop the run", "danger", () => decide(it, { action: "stop", reason: reason.value }, error), el("p", { class: "aside" }, "The whole run ends. Whatever else of it waits is withdrawn."), el("label", { for: "reason" }, "Reason", el("span", { class: "aside" }, " optional")), reason);
	},
};

function back() {
	mode = "view";
	draw();
	$("card-title").focus({ preventScroll: true });
}

// start begins to decide the item on screen. What has only just appeared is not decided: that press was meant for what
// was there before.
export async function start(action) {
	const it = current();
	if (!it || !bodies || bodies.item.id !== it.id || it.status !== "pending" || busy || performance.now() - since < settle) return;
	if (action === "respond" && it.kind !== "tool") return;
	if (action === "approve") {
		if (mode !== "view") return;
		return decide(it, { action }, $("card-error"));
	}
	if (action === "edit" && (it.kind === "response" || bodies.body.cut)) {
		try {
			if (!bodies.write && !(await loadAll())) return;
		} catch (e) {
			return trouble($("card-error"), e.message);
		}
	}
	mode = action;
	draw();
	const box = $("card").querySelector("form textarea, form input");
	box.focus();
	if (box.tagName === "TEXTAREA") box.setSelectionRange(0, 0);
}

async function decide(it, decision, error) {
	if (busy) return;
	busy = true;
	$("card").setAttribute("aria-busy", "true");
	trouble(error, "");
	const next = beside(it.id, 1);
	try {
		await ask({ t: "decide", item: it.id, digest: bodies.item.digest, ...decision });
		kept.drop(it);
		announce(`${{ approve: "Approved", edit: "Approved with your edit", deny: "Denied", respond: "Answered", stop: "Stopped" }[decision.action]}: ${title(it)}.`);
		mode = "view";
		const on = state.items.get(next)?.status === "pending" && next !== it.id ? next : beside("", 1);
		if (state.selected === it.id) {
			move(on || it.id);
			state.free = !on;
		}
	} catch (e) {
		if (["decided", "expired", "stale", "unknown"].includes(e.code)) {
			notice = { id: it.id, text: e.message };
			await load();
		} else {
			trouble(error, e instanceof Lost ? e.message : `Not done: ${e.message}`);
		}
	} finally {
		busy = false;
		$("card").removeAttribute("aria-busy");
	}
}

let focusNext = false;
function move(id) {
	const at = document.activeElement;
	focusNext = at === document.body || $("card").contains(at); // not away from where somebody writes
	if (id === state.selected) load({ focus: true });
	else select(id);
	focusNext = false;
}

export function step(by) {
	const id = beside(state.selected, by);
	if (id) move(id);
}

// typing tells whether the card holds a form that a new frame must not take away.
const typing = () => mode !== "view";

export function startCard(send) {
	ask = send;
	onChange((c) => {
		if (c.has("all") || !state.selected) {
			const stay = state.items.has(state.selected);
			if (!stay) {
				state.selected = "";
				const first = beside("", 1);
				if (first) return select(first);
			} else if (typing() && bodies && current().digest === bodies.item.digest && current().status === "pending") {
				return;
			}
			if (c.has("all") || !bodies) load();
			return;
		}
		if (c.has("selected")) {
			notice = { id: "", text: "" };
			return void load({ focus: focusNext });
		}
		if (!busy && state.free && !typing()) {
			const first = beside("", 1);
			if (first) return move(first);
		}
		if (!c.has(state.selected) || busy) return;
		const was = bodies?.item.status;
		const now = current();
		if (bodies && was === now.status) return;
		if (typing() && now.status !== "pending") notice = { id: now.id, text: `${standing(now)}. What you typed was not sent.` };
		load();
	});
	setInterval(() => {
		const it = current();
		for (const n of document.querySelectorAll("#card [data-live]")) {
			if (!it) continue;
			n.textContent = n.dataset.live === "age" ? age(it.at) : expiry(it.expires);
			n.classList.toggle("soon", n.dataset.live === "expiry" && Boolean(soon(it.expires)));
		}
	}, 1000);
	load();
}

// escape goes back from a form; it reports whether there was one.
export function escape() {
	if (mode === "view" || busy) return false;
	back();
	return true;
}
