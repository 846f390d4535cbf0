// The timeline, the newest first.

import { $, el } from "./dom.js";
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
	ITEM_EXPIRED: ["⧖", "Expired"],
	ITEM_REDEEMED: ["▸", "Handed out"],
	POLICY_CHANGED: ["≡", "Rules changed"],
	AUDIT_CHANGED: ["≡", "Auditing switched"],
};

const tones = { "✓": "good", "✕": "bad", "⧖": "bad", "○": "wait" };
const most = 200;
let newest = 0;

// look selects an item. Where the card stands above the events it may be out of sight.
function look(id) {
	select(id);
	if (matchMedia("(max-width: 1199px)").matches) $("card").scrollIntoView();
}

function row(e) {
	const [mark, what] = words[e.type] || ["·", e.type];
	const edited = e.action === "edit" ? " with an edit" : e.action === "stop" ? ", run stopped" : "";
	const by = e.by === "policy" ? "by a rule" : e.by === "unaudited" ? "unaudited" : e.by ? `by ${e.by}` : "";
	const name = el("span", { class: "name" }, el("span", { class: "word" }, what + edited), e.tool ? el("code", {}, e.tool) : null);
	const detail = [by, e.reason, e.run].filter(Boolean).join(" · ");
	return el(
		"li",
		{ "data-seq": e.seq, class: tones[mark] || "" },
		el("span", { class: "mark", "aria-hidden": "true" }, mark),
		el("span", { class: "body" }, e.item ? el("button", { type: "button", class: "plain-link", click: () => look(e.item) }, name) : name, el("span", { class: "detail" }, el("span", {}, detail), el("time", { datetime: e.at, title: `${e.type} ${e.at}` }, clock(e.at)))),
	);
}

export function startEvents() {
	const list = $("events");
	onChange((c) => {
		if (!c.has("events")) return;
		if (c.has("all")) {
			list.replaceChildren();
			newest = 0;
		}
		for (const e of state.events) {
			if (e.seq <= newest) continue;
			list.prepend(row(e));
			newest = e.seq;
		}
		while (list.children.length > most) list.lastChild.remove();
		if (!list.children.length) list.append(el("li", { class: "empty" }, "Events show here as they happen."));
		else list.querySelector(".empty")?.remove();
	});
}
