// What waits, the oldest first. A new item does not move the selection.

import { $, announce, el } from "./dom.js";
import { notify } from "./notify.js";
import { kinds, onChange, pending, select, state, title } from "./state.js";
import { age, expiry, soon } from "./time.js";

const rows = new Map(); // list entries by item ID
const maxRows = 200; // the rest is counted

export function startQueue() {
	const list = $("queue");

	function row(it) {
		const li = el(
			"li",
			{},
			el(
				"button",
				{ type: "button", "data-item": it.id, click: () => select(it.id) },
				el("span", { class: `kind ${it.kind}` }, { context: "Run", tool: "Tool", response: "Reply" }[it.kind]),
				el("span", { class: "what" }, title(it), it.kind !== "response" && it.text ? el("span", { class: "more" }, it.text.slice(0, 120)) : null),
				el("span", { class: "when" }),
			),
		);
		return li;
	}

	function times() {
		for (const [id, li] of rows) {
			const it = state.items.get(id);
			if (!it) continue;
			const when = li.querySelector(".when");
			const text = `${age(it.proposed)} · ${expiry(it)}`;
			if (when.textContent !== text) when.textContent = text;
			when.classList.toggle("soon", Boolean(soon(it.expires)));
		}
	}

	let before = -1;
	function draw() {
		const all = pending();
		const visible = all.slice(0, maxRows);
		const wanted = new Set(visible.map((it) => it.id));
		for (const [id, li] of rows) {
			if (wanted.has(id)) continue;
			li.remove();
			rows.delete(id);
		}
		visible.forEach((it, i) => {
			let li = rows.get(it.id);
			if (!li) rows.set(it.id, (li = row(it)));
			if (list.children[i] !== li) list.insertBefore(li, list.children[i] || null);
		});
		for (const [id, li] of rows) {
			const button = li.firstChild;
			if (id === state.selected) button.setAttribute("aria-current", "true");
			else button.removeAttribute("aria-current");
		}
		$("queue-more").hidden = all.length <= maxRows;
		$("queue-more").textContent = `and ${all.length - maxRows} more`;
		$("count").textContent = all.length ? `${all.length}` : "";
		$("badge").textContent = all.length;
		$("badge").hidden = !all.length;
		document.title = all.length ? `(${all.length}) Audit · sidecoach` : "Audit · sidecoach";
		if (before >= 0 && all.length > before) {
			const it = all.at(-1);
			announce(`${kinds[it.kind]} ${title(it)} waits for you. ${all.length} waiting.`);
			notify(it, () => select(it.id));
		}
		before = all.length;
		times();
	}

	onChange((c) => {
		if (c.has("items") || c.has("selected")) draw();
	});
	setInterval(times, 1000);
}

// neighbor returns the item that waits after (1) or before (-1) the one with the ID, and begins again at the end.
export function neighbor(id, step) {
	const all = pending();
	if (!all.length) return "";
	const i = all.findIndex((it) => it.id === id);
	if (i < 0) return all[step > 0 ? 0 : all.length - 1].id;
	return all[(i + step + all.length) % all.length].id;
}
