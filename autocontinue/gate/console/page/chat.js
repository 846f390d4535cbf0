// The conversation: what the session holds, as messages. A draft shows here when it is approved.

import { $, confirmed, el, fill, trouble } from "./dom.js";
import { inOrder, onChange, select, standing, state, symbols } from "./state.js";
import { responseOf } from "./json.js";
import { address } from "./socket.js";

const shown = new Map(); // list entries by item ID
const opened = new Map(); // whole texts by item ID
const maxShown = 300;

export function startChat(ask, goReview) {
	const list = $("messages");

	function entry(it) {
		const who = it.kind === "tool" ? "tool" : it.kind === "response" ? "agent" : it.from && it.from !== "human" ? "coach" : "human";
		const speaker = who === "human" ? "Human" : who === "coach" ? it.from : who === "agent" ? "Agent" : "Tool";
		const li = el("li", { class: `msg ${who} is-${it.status}` });
		const status = el("span", { class: "standing" }, el("span", { "aria-hidden": "true" }, `${symbols[it.status] || ""} `), standing(it));
		const review = () => {
			select(it.id);
			goReview();
		};
		const link = it.status === "pending" ? el("button", { type: "button", class: "quiet small", click: review }, "Review") : null;
		if (who === "tool") {
			li.append(el("span", { class: "tool-name" }, it.tool), el("code", { class: "args" }, it.text + (it.cut ? "…" : "")), el("span", { class: "under" }, status, link));
			return li;
		}
		const words = it.text || (who === "agent" ? "" : it.label);
		li.append(el("span", { class: who === "human" ? "hush" : "speaker" }, speaker));
		if (words) {
			const text = el("p", { class: "text" }, words, it.cut ? "…" : "");
			li.append(text);
			if (opened.has(it.id)) fill(text, opened.get(it.id));
			else if (it.cut) li.append(el("button", { type: "button", class: "quiet small", click: (e) => whole(it, e.currentTarget) }, "Show all"));
		} else if (who === "agent" && it.status === "pending") {
			li.append(el("p", { class: "text faint" }, "A draft is ready."));
		} else if (who === "agent") {
			li.append(el("p", { class: "text faint" }, "The draft was not shown."));
		}
		li.append(el("span", { class: "under" }, status, link));
		return li;
	}

	async function whole(it, button) {
		button.disabled = true;
		const url = address("item");
		url.searchParams.set("id", it.id);
		url.searchParams.set("all", "1");
		const r = await fetch(url).catch(() => null);
		if (!r?.ok) {
			button.disabled = false;
			button.textContent = "That failed. Try again";
			return;
		}
		const b = await r.json();
		opened.set(it.id, it.kind === "response" ? responseOf(b.edited || b.body).text.text : (b.edited || b.body).text);
		if (shown.has(it.id)) update([it.id]);
	}

	function mine() {
		return inOrder().filter((it) => it.thread === state.thread).slice(-maxShown);
	}

	function redraw() {
		shown.clear();
		list.replaceChildren();
		const items = mine();
		for (const it of items) {
			const li = entry(it);
			shown.set(it.id, li);
			list.append(li);
		}
		if (!items.length) list.append(el("li", { class: "empty" }, state.chat ? "Write what the agent should do. It gets nothing before you approve." : "Nothing has happened yet."));
		list.scrollTop = list.scrollHeight;
	}

	function update(ids) {
		const low = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
		const last = Math.max(0, ...[...shown.keys()].map((id) => state.items.get(id)?.seq || 0));
		if (ids.some((id) => !shown.has(id) && state.items.get(id).seq < last)) return redraw();
		for (const id of ids) {
			const it = state.items.get(id);
			if (!it || it.thread !== state.thread) continue;
			list.querySelector(".empty")?.remove();
			const li = entry(it);
			if (shown.has(id)) shown.get(id).replaceWith(li);
			else list.append(li);
			shown.set(id, li);
		}
		while (shown.size > maxShown) {
			const [id, li] = shown.entries().next().value;
			li.remove();
			shown.delete(id);
		}
		if (low) list.scrollTop = list.scrollHeight;
	}

	function threads() {
		const names = new Set([state.thread, ...[...state.items.values()].map((it) => it.thread)]);
		const box = $("thread");
		box.hidden = names.size < 2;
		const have = [...box.options].map((o) => o.value).join("\n");
		if (have !== [...names].sort().join("\n")) box.replaceChildren(...[...names].sort().map((n) => el("option", { value: n }, n)));
		box.value = state.thread;
	}

	let running = null;
	function working() {
		running = [...state.runs.values()].filter((r) => r.thread === state.thread && !["finished", "denied"].includes(r.phase)).at(-1);
		$("working").hidden = !running;
		const words = { staged: "A message waits", running: "The agent works", tool_proposed: "A tool call waits", tool_executing: "A tool executes", response_proposed: "An answer waits" };
		$("working-text").textContent = running ? words[running.phase] || running.phase : "";
	}

	onChange((c) => {
		threads();
		if (c.has("all")) redraw();
		else update([...c].filter((id) => state.items.has(id)));
		working();
	});

	$("thread").addEventListener("change", (e) => {
		state.thread = e.target.value;
		redraw();
		working();
	});

	$("stop").addEventListener("click", async () => {
		const run = running.id;
		if (!(await confirmed("Stop the run?", `Run ${run} ends. Everything of it that waits is withdrawn. A call that executes goes on.`, "Stop the run"))) return;
		try {
			await ask({ t: "stop", run, reason: "" });
			trouble($("say-error"), "");
		} catch (e) {
			trouble($("say-error"), e.message);
		}
	});

	const box = $("message");
	box.value = sessionStorage.getItem("message") || "";
	box.addEventListener("input", () => sessionStorage.setItem("message", box.value));
	box.addEventListener("keydown", (e) => {
		if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
		e.preventDefault();
		$("say").requestSubmit();
	});

	let sending = false;
	$("say").addEventListener("submit", async (e) => {
		e.preventDefault();
		const message = box.value.trim();
		if (!message || sending) return;
		sending = true;
		try {
			await ask({ t: "submit", thread: state.thread, message });
			box.value = "";
			sessionStorage.removeItem("message");
			trouble($("say-error"), "");
			list.scrollTop = list.scrollHeight;
		} catch (err) {
			trouble($("say-error"), err.message);
		} finally {
			sending = false;
		}
	});
}
