// What the page knows. The server is right about all of it: a frame replaces what it names.

export const state = {
	seq: 0,
	of: "", // what seq counts in: a host without a journal begins at 1 again
	name: "",
	thread: "main",
	chat: false,
	items: new Map(), // by ID
	runs: new Map(),
	events: [], // the last ones, oldest first
	settings: null,
	selected: "", // ID of the item in the card
	free: false, // the card shows an item that was decided in it: the next one that comes may replace it
};

const maxEvents = 400;
const maxItems = 3000;
const listeners = new Set();

// onChange calls f with the set of what a frame changed: "items", "events", "settings", "all", and the items' IDs.
export const onChange = (f) => listeners.add(f);

function tell(changes) {
	for (const f of listeners) f(changes);
}

export function take(f) {
	const changes = new Set();
	switch (f.t) {
		case "snapshot":
			state.items.clear();
			state.runs.clear();
			state.events = [];
			for (const r of f.runs || []) state.runs.set(r.id, r);
			for (const e of f.events || []) state.events.push(e);
			put(f.items, changes);
			state.seq = f.seq || 0;
			changes.add("all").add("events").add("items");
			break;
		case "events":
			state.events.push(...f.events.filter((e) => e.seq > state.seq)); // the others were seen before
			state.seq = f.seq;
			if (state.events.length > maxEvents) state.events.splice(0, state.events.length - maxEvents);
			for (const r of f.runs || []) state.runs.set(r.id, r);
			put(f.items, changes);
			changes.add("events").add("items");
			break;
		case "settings":
			state.settings = f.settings;
			changes.add("settings");
			break;
		default:
			return;
	}
	tell(changes);
}

function put(items, changes) {
	for (const it of items || []) {
		state.items.set(it.id, it);
		changes.add(it.id);
	}
	if (state.items.size <= maxItems) return;
	for (const it of inOrder()) {
		if (state.items.size <= maxItems) break;
		if (it.status !== "pending" && it.id !== state.selected) state.items.delete(it.id);
	}
}

// inOrder returns the items in the order of their proposals, whatever the clock said.
export const inOrder = () => [...state.items.values()].sort((a, b) => a.seq - b.seq);

export const pending = () => inOrder().filter((it) => it.status === "pending");

// select shows an item in the card.
export function select(id) {
	state.free = false;
	if (state.selected === id) return;
	state.selected = id;
	tell(new Set(["selected"]));
}

export const kinds = { context: "Run staging", tool: "Tool call", response: "Draft response" };

export const title = (it) => (it.kind === "tool" ? it.tool : it.kind === "context" ? it.label || "Context of a run" : it.label || "Draft response");

// standing says in words where an item stands.
export function standing(it) {
	const by = it.by === "policy" ? "by a rule" : it.by === "unaudited" ? "unaudited" : it.by ? `by ${it.by}` : "";
	const why = it.reason ? `: ${it.reason}` : "";
	const approved = `${it.edited ? "Edited and approved" : "Approved"} ${by}`;
	switch (it.status) {
		case "pending":
			return it.approver ? `Waiting for ${it.approver}` : "Waiting for approval";
		case "approved":
			return approved;
		case "denied":
			return `${it.action === "stop" ? "Stopped" : "Denied"} ${by}${why}`;
		case "expired":
			return "Expired: nobody decided in time";
		case "redeemed":
			return `${approved} · ${it.kind === "tool" ? "executing" : it.kind === "context" ? "sent" : "shown"}`;
		case "done":
			return it.action === "respond" ? `Answered in the tool's place ${by}` : `${approved} · done`;
		case "withdrawn":
			return "Withdrawn: its run ended";
		default:
			return it.status;
	}
}

export const symbols = { pending: "○", approved: "✓", redeemed: "▸", done: "✓", denied: "✕", expired: "⧖", withdrawn: "–" };
