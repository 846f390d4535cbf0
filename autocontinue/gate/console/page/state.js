// What the page knows. The server is right about all of it: a frame replaces what it names.

export const state = {
	seq: 0,
	of: "", // what seq counts in: a host that forgot everything begins at 1 again
	name: "",
	thread: "main",
	chat: false,
	items: new Map(), // by ID, in the order in which they were proposed
	runs: new Map(),
	events: [], // the last ones, oldest first
	settings: null,
	selected: "", // ID of the item in the card
	free: false, // the card shows what was decided in it last: the next that comes may take its place
};

const keep = 400; // events
const keepItems = 3000;
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
			for (const e of f.events || []) state.events.push(e.event);
			put(f.items, changes);
			state.seq = f.seq || 0;
			changes.add("all").add("events").add("items");
			break;
		case "event":
			if (f.seq <= state.seq) return; // seen before
			state.seq = f.seq;
			state.events.push(f.event);
			if (state.events.length > keep) state.events.splice(0, state.events.length - keep);
			if (f.run) state.runs.set(f.run.id, { ...state.runs.get(f.run.id), ...f.run });
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
	if (state.items.size <= keepItems) return;
	for (const [id, it] of state.items) {
		if (state.items.size <= keepItems) break;
		if (it.status !== "pending" && id !== state.selected) state.items.delete(id);
	}
}

export const pending = () => [...state.items.values()].filter((it) => it.status === "pending");

// select shows an item in the card.
export function select(id) {
	state.free = false;
	if (state.selected === id) return;
	state.selected = id;
	tell(new Set(["selected"]));
}

export const kinds = { context: "Run staging", tool: "Tool call", response: "Draft response" };

export const title = (it) => (it.kind === "tool" ? it.tool : it.kind === "context" ? it.label || "Context of a run" : it.label || "Draft response");

// standing says where an item stands, in words.
export function standing(it) {
	const by = it.by === "policy" ? "by a rule" : it.by === "unaudited" ? "unaudited" : it.by ? `by ${it.by}` : "";
	const why = it.reason ? `: ${it.reason}` : "";
	switch (it.status) {
		case "pending":
			return "Waiting for approval";
		case "approved":
			return `${it.edited ? "Edited and approved" : "Approved"} ${by}`;
		case "denied":
			return `${it.action === "stop" ? "Stopped" : "Denied"} ${by}${why}`;
		case "expired":
			return "Expired: nobody decided in time";
		case "answered":
			return `Answered in the tool's place ${by}`;
		case "redeemed":
			return `${it.edited ? "Edited and approved" : "Approved"} ${by} · ${it.kind === "tool" ? "executing" : it.kind === "context" ? "sent" : "shown"}`;
		case "done":
			return `${it.edited ? "Edited and approved" : "Approved"} ${by} · done`;
		case "withdrawn":
			return "Withdrawn: its run ended";
		default:
			return it.status;
	}
}

export const marks = { pending: "○", approved: "✓", redeemed: "▸", done: "✓", denied: "✕", expired: "⧖", answered: "↩", withdrawn: "–" };
