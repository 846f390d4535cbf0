// The item that is selected: what would happen, exactly, and the buttons that decide it.

import { $, announce, el, fill, size, trouble } from "./dom.js";
import { show } from "./diff.js";
import { forms, startForms, suggest } from "./decide.js";
import { forget } from "./editor.js";
import { responseOf } from "./json.js";
import { neighbor } from "./queue.js";
import { Lost, address } from "./socket.js";
import { kinds, onChange, select, standing, state, symbols, title } from "./state.js";
import { age, clock, expiry, soon } from "./time.js";

const settleTime = 400; // ms for which an item must be on screen before a key or click decides it

let ask; // sends a command
let bodies = null; // of the selected item, as the server sent them
let mode = "view"; // or the name of a form
let whole = false; // the boxes show all of their text
let seenEnd = false; // the end of it was in sight
let since = 0; // when the card showed what it shows
let ready = 0; // timer that marks the card as settled
let busy = false;
let notice = { id: "", text: "" }; // what happened to an item while somebody worked on it
let loading = 0;

const current = () => state.items.get(state.selected);

async function fetchItem(id, all) {
	const url = address("item");
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
	whole = seenEnd = false;
	bodies = null;
	if (!it && !state.selected) {
		card.className = "card";
		card.replaceChildren(
			el("div", { class: "nothing" }, el("h2", { id: "card-title", tabindex: "-1" }, "Nothing waits for you"), el("p", { class: "hint" }, "What the agent wants to do shows up here before it happens.")),
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

// part shows a text of the item.
function part(name, p, kind = "") {
	const box = el("pre", { class: `code ${kind}`, tabindex: "0", role: "group", "aria-label": name });
	fill(box, p.text);
	const note = p.cut ? el("p", { class: "cut" }, `You see the first ${size(new Blob([p.text]).size)} of ${size(p.size)}.`) : null;
	return el("div", { class: "part" }, el("h3", {}, name, el("span", { class: "hint" }, ` ${size(p.size)}`)), box, note);
}

function content(it) {
	const b = bodies;
	const out = [];
	if (it.kind === "response") {
		const draft = responseOf(b.body);
		const final = b.edited && responseOf(b.edited);
		out.push(part("Draft", draft.text, "prose"));
		if (draft.a2ui) out.push(part("Interface (A2UI)", draft.a2ui));
		if (final) out.push(final.text.cut || draft.text.cut ? part("Final", final.text, "prose") : show(draft.text.text, final.text.text, "What the edit changed"));
		if (final && (draft.a2ui || final.a2ui)) out.push(show(draft.a2ui?.text || "", final.a2ui?.text || "", "What the edit changed in the interface"));
	} else {
		out.push(part(it.kind === "tool" ? "Arguments" : "Payload", b.body));
		if (b.edited) out.push(show(b.body.text, b.edited.text, "What the edit changed"));
	}
	if (b.result) out.push(part("Result", b.result));
	return out;
}

// isOpen tells whether all of what would be approved is on the page, and nothing of it below the fold of its box.
function isOpen() {
	if (!bodies || bodies.body.cut) return false;
	return whole || [...$("card").querySelectorAll(".part pre")].every((box) => box.scrollHeight <= box.clientHeight + 1);
}

// allShown tells whether somebody could see all of it: it is open, and its end was in sight above the buttons.
function allShown() {
	if (!isOpen()) return false;
	const end = $("card").querySelector(".content")?.getBoundingClientRect().bottom;
	const fold = $("card").querySelector(".actions")?.getBoundingClientRect().top;
	seenEnd ||= $("card").checkVisibility() && end <= fold + 24; // the padding below the content
	return seenEnd;
}

// showAll loads what is cut and opens the boxes. If they are open, it scrolls on by a page.
async function showAll() {
	const id = state.selected;
	if (isOpen() && !allShown()) return scroller().scrollBy({ top: scroller().clientHeight * 0.7 });
	if (isOpen()) return label();
	busy = true;
	try {
		if (!bodies.write) {
			const got = await fetchItem(id, true);
			if (state.selected !== id) return;
			bodies = got;
		}
		whole = true;
		draw();
		announce("All of it is shown now.");
	} catch (e) {
		trouble($("card-error"), e.message);
	} finally {
		busy = false;
	}
}

// scroller returns what scrolls the card: the work beside the events or, on a narrow page, all of the review.
function scroller() {
	const work = document.querySelector(".work");
	return work.scrollHeight > work.clientHeight ? work : $("review");
}

function button(label, key, action, kind = "plain-button", title = null) {
	return el("button", { type: "button", class: kind, title, "data-action": action, click: (e) => e.detail < 2 && start(action) }, el("span", {}, label), key && el("kbd", { "aria-hidden": "true" }, key));
}

const approveWords = { context: "Approve and send", tool: "Approve", response: "Approve and show" };

// label says on the button whether there is more to see first.
function label() {
	const it = current() || bodies?.item;
	const approve = $("card").querySelector("[data-action=approve]");
	if (!approve || !it) return;
	const all = allShown();
	approve.firstChild.textContent = all ? approveWords[it.kind] : isOpen() ? "Scroll down to approve" : "Show all to approve";
	approve.classList.toggle("unseen", !all);
	$("card").dataset.shown = all;
}

function draw() {
	const card = $("card");
	const it = current() || bodies.item;
	const open = it.status === "pending";
	const held = card.contains(document.activeElement);
	since = performance.now();
	card.dataset.ready = "false";
	clearTimeout(ready);
	ready = setTimeout(() => (card.dataset.ready = "true"), settleTime);
	const rows = [
		fact("Thread", it.thread),
		fact("Run", it.run),
		it.call && fact("Call", it.call),
		fact("Proposed", el("span", { "data-live": "age" }, age(it.proposed)), ` at ${clock(it.proposed)}`),
		it.rule && fact(open ? "Why it asks" : "Rule", it.rule),
		open && it.approver && fact("Escalated to", it.approver),
		open && it.escalate && fact("Next asked", it.escalate),
		fact("Digest", el("code", { title: it.digest }, it.digest.slice(0, 16))),
	].filter(Boolean);
	card.className = `card is-${it.status}${whole ? " whole" : ""}`;
	const time = open ? el("span", { class: "expiry", "data-live": "expiry" }, expiry(it)) : el("span", { class: `stand is-${it.status}` }, `${symbols[it.status] || ""} ${standing(it)}`);
	card.replaceChildren(
		el(
			"header",
			{},
			el("p", { class: "eyebrow" }, el("span", { class: `kind ${it.kind}` }, kinds[it.kind]), time),
			el("h2", { id: "card-title", tabindex: "-1" }, title(it)),
			it.kind === "tool" && it.label ? el("p", { class: "label", tabindex: it.label.length > 120 ? "0" : null }, it.label) : null,
		),
	);
	if (mode !== "edit" && mode !== "allow") card.append(el("div", { class: "content" }, ...content(it)));
	if (mode === "view") card.append(el("dl", { class: "facts" }, ...rows));
	const error = el("p", { class: "trouble", role: "alert", id: "card-error", hidden: true });
	if (notice.id === it.id) trouble(error, notice.text);
	if (open && mode === "view") {
		card.append(
			error,
			el(
				"footer",
				{ class: "actions" },
				button(approveWords[it.kind], "A", "approve", "primary"),
				button("Edit", "E", "edit"),
				button("Deny", "D", "deny"),
				it.kind === "tool" ? button("Answer", "R", "respond") : null,
				it.kind === "tool" ? button("Always…", "W", "allow") : null,
				button("Stop", "", "stop", "quiet push", "Stop the run"),
			),
		);
		label();
	} else if (open) {
		card.append(forms[mode](it, bodies, error));
	} else {
		card.append(error);
		const next = neighbor("", 1);
		if (next) card.append(el("footer", { class: "actions" }, el("button", { type: "button", class: "plain-button", click: () => step(1) }, "Next that waits", el("kbd", { "aria-hidden": "true" }, "N"))));
	}
	if (held && !card.contains(document.activeElement)) $("card-title").focus({ preventScroll: true });
}

function back() {
	mode = "view";
	draw();
	$("card-title").focus({ preventScroll: true });
}

// start begins to decide the item on screen. What has only just appeared is not decided: that press was meant for what was
// there before. What is not shown completely is not approved or edited.
export async function start(action) {
	const it = current();
	if (!it || !bodies || bodies.item.id !== it.id || it.status !== "pending" || busy || mode !== "view" || performance.now() - since < settleTime) return;
	if (["respond", "allow"].includes(action) && it.kind !== "tool") return;
	const saidApprove = $("card").dataset.shown === "true"; // the button said approve
	if (["approve", "edit", "allow"].includes(action) && !(saidApprove && allShown())) return showAll();
	if (action === "approve") return decide(it, { t: "decide", action });
	try {
		if (action === "edit" && !bodies.write) {
			const got = await fetchItem(it.id, true);
			if (state.selected !== it.id) return;
			bodies = got;
		}
		if (state.selected !== it.id || current()?.status !== "pending") return;
		if (action === "allow") bodies.suggestion = suggest(bodies.body.text);
	} catch (e) {
		return trouble($("card-error"), e.message);
	}
	mode = action;
	draw();
	$("card").querySelector("form").begin();
}

// decide sends a decision about an item, after new rules if there are some, and goes on to the next one.
async function decide(it, command, rules) {
	if (busy) return;
	busy = true;
	const error = $("card-error");
	$("card").setAttribute("aria-busy", "true");
	trouble(error, "");
	const next = neighbor(it.id, 1);
	let saved = "";
	try {
		if (rules) await ask(rules);
		if (rules) saved = "The rule is saved, but this call is not approved. ";
		await ask({ ...command, item: it.id, digest: bodies.item.digest });
		forget(it);
		const done = { approve: "Approved", edit: "Approved with your edit", deny: "Denied", respond: "Answered", stop: "Stopped" };
		announce(`${rules ? "Always allowed" : done[command.action]}: ${title(it)}.`);
		mode = "view";
		const on = state.items.get(next)?.status === "pending" && next !== it.id ? next : neighbor("", 1);
		if (state.selected === it.id) {
			move(on || it.id);
			state.free = !on;
		}
	} catch (e) {
		const now = state.items.get(it.id);
		if (["decided", "stale", "illegal"].includes(e.code) || now?.status !== "pending") {
			const first = e.code === "decided" && now ? `Too late. ${standing(now)}, at ${clock(now.decided)}.` : "";
			notice = { id: it.id, text: saved + (first || e.message) };
			await load();
		} else {
			trouble(error, saved + (e instanceof Lost ? e.message : `Not done: ${e.message}`));
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
	const id = neighbor(state.selected, by);
	if (id) move(id);
}

export function startCard(send) {
	ask = send;
	startForms({ decide, back });
	const look = () => mode === "view" && label();
	new ResizeObserver(look).observe($("card"));
	addEventListener("scroll", look, { capture: true, passive: true });
	addEventListener("resize", look);
	onChange((c) => {
		if (c.has("all") || !state.selected) {
			const there = state.items.has(state.selected);
			if (!there) {
				state.selected = "";
				const first = neighbor("", 1);
				if (first) return select(first);
			} else if (mode !== "view" && bodies && current().digest === bodies.item.digest && current().status === "pending") {
				return; // a new frame must not take away what somebody types
			}
			if (c.has("all") || !bodies) load();
			return;
		}
		if (c.has("selected")) {
			notice = { id: "", text: "" };
			return void load({ focus: focusNext });
		}
		if (!busy && state.free && mode === "view") {
			const first = neighbor("", 1);
			if (first) return move(first);
		}
		if (!c.has(state.selected) || busy) return;
		const now = current();
		if (bodies && bodies.item.status === now.status && (bodies.item.approver || "") === (now.approver || "")) return;
		if (mode !== "view" && now.status === "pending") return;
		if (mode !== "view") notice = { id: now.id, text: `${standing(now)}. What you typed was not sent.` };
		load();
	});
	setInterval(() => {
		const it = current();
		for (const n of document.querySelectorAll("#card [data-live]")) {
			if (!it) continue;
			n.textContent = n.dataset.live === "age" ? age(it.proposed) : expiry(it);
			n.classList.toggle("soon", n.dataset.live === "expiry" && Boolean(soon(it.expires)));
		}
	}, 1000);
	load();
}

// escape goes back from a form. It reports whether there was one.
export function escape() {
	if (mode === "view" || busy) return false;
	back();
	return true;
}
