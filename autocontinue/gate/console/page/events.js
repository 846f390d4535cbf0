// The timeline, the newest first: as it happens, or what a search finds among all events that the server keeps.

import { $, el } from "./dom.js";
import { address } from "./socket.js";
import { onChange, select, state } from "./state.js";
import { clock } from "./time.js";

const words = {
	RUN_STAGED: ["○", "Run staged"],
	RUN_STAGE_APPROVED: ["✓", "Context approved"],
	RUN_STAGE_DENIED: ["✕", "Context denied"],
	RUN_STARTED: ["▸", "Run started"],
	TOOL_CALL_PROPOSED: ["○", "Call proposed"],
	TOOL_CALL_APPROVED: ["✓", "Call approved"],
	TOOL_CALL_DENIED: ["✕", "Call denied"],
	TOOL_CALL_STARTED: ["▸", "Call started"],
	TOOL_CALL_RESULT: ["↩", "Result"],
	ASSISTANT_DRAFT_PROPOSED: ["○", "Draft proposed"],
	ASSISTANT_FINAL_APPROVED: ["✓", "Response approved"],
	ASSISTANT_FINAL_DENIED: ["✕", "Response denied"],
	RUN_FINISHED: ["■", "Run finished"],
	ITEM_ESCALATED: ["↥", "Escalated"],
	ITEM_EXPIRED: ["⧖", "Expired"],
	ITEM_REDEEMED: ["▸", "Handed out"],
	POLICY_CHANGED: ["≡", "Rules changed"],
	AUDIT_CHANGED: ["≡", "Auditing switched"],
};

const tones = { "✓": "good", "✕": "bad", "⧖": "bad", "○": "wait" };
const maxRows = 200;
const maxChanges = 5;
let newest = 0;

// look selects an item. On a narrow page the card may be out of sight.
function look(id) {
	select(id);
	if (matchMedia("(max-width: 1199px)").matches) $("card").scrollIntoView();
}

function changesOf(e) {
	const list = e.changes || [];
	const items = (part) => part.map((c) => el("li", {}, c));
	if (!list.length) return null;
	const rest = list.slice(maxChanges);
	return el("div", { class: "changed" }, el("ul", {}, ...items(list.slice(0, maxChanges))), rest.length ? el("details", {}, el("summary", {}, `${rest.length} more`), el("ul", {}, ...items(rest))) : null);
}

function row(e) {
	const [symbol, what] = words[e.type] || ["·", e.type];
	const how = e.action === "edit" ? " with an edit" : e.action === "stop" ? ", run stopped" : "";
	const by = e.by === "policy" ? "by a rule" : e.by === "unaudited" ? "unaudited" : e.by ? `by ${e.by}` : "";
	const name = el("span", { class: "name" }, el("span", { class: "word" }, what + how), e.toolName ? el("code", {}, e.toolName) : null);
	const detail = [by, e.reason, e.runId].filter(Boolean).join(" · ");
	return el(
		"li",
		{ "data-seq": e.seq, class: tones[symbol] || "" },
		el("span", { class: "mark", "aria-hidden": "true" }, symbol),
		el(
			"div",
			{ class: "body" },
			e.itemId ? el("button", { type: "button", class: "plain-link", click: () => look(e.itemId) }, name) : name,
			changesOf(e),
			el("span", { class: "detail" }, el("span", {}, detail), el("time", { datetime: e.at, title: `${e.type} ${e.at}` }, clock(e.at))),
		),
	);
}

// query returns the address of what is searched for.
function query(format) {
	const url = address("events");
	url.searchParams.set("q", $("search-words").value.trim());
	url.searchParams.set("show", $("search-show").value);
	if (format) url.searchParams.set("format", format);
	return url;
}

export function startEvents() {
	const list = $("events");
	const isSearch = () => Boolean($("search-words").value.trim() || $("search-show").value);
	const empty = (text) => list.append(el("li", { class: "empty" }, text));

	function follow(afresh) {
		if (afresh) {
			list.replaceChildren();
			newest = 0;
		}
		for (const e of state.events) {
			if (e.seq <= newest) continue;
			list.prepend(row(e));
			newest = e.seq;
		}
		while (list.children.length > maxRows) list.lastChild.remove();
		if (!list.children.length) empty("Events show here as they happen.");
		else list.querySelector(".empty")?.remove();
		$("found").textContent = "";
	}

	let turn = 0;
	async function search() {
		const mine = ++turn;
		const r = await fetch(query()).catch(() => null);
		if (mine !== turn || !isSearch()) return;
		const data = await r?.json();
		list.replaceChildren(...(r?.ok ? data.events.map(row) : []));
		$("found").textContent = !r?.ok ? "The search failed." : data.found > data.events.length ? `The last ${data.events.length} of ${data.found}.` : `${data.found} found.`;
		if (!list.children.length) empty("Nothing is found.");
	}

	let timer = 0;
	function update(afresh) {
		$("export-jsonl").href = query("jsonl");
		$("export-csv").href = query("csv");
		clearTimeout(timer);
		if (!isSearch()) {
			turn++;
			return follow(afresh);
		}
		timer = setTimeout(search, 250);
	}

	onChange((c) => c.has("events") && update(c.has("all")));
	$("search-words").addEventListener("input", () => update(true));
	$("search-show").addEventListener("change", () => update(true));
	$("search").addEventListener("submit", (e) => e.preventDefault());
	update(true);
}
