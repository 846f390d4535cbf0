// Ages and expiries by the server's clock.

let offset = 0;

export function serverSays(iso) {
	offset = Date.parse(iso) - Date.now();
}

export const now = () => Date.now() + offset;

function span(ms) {
	const s = Math.max(0, Math.floor(ms / 1000));
	if (s < 60) return `${s} s`;
	if (s < 3600) return `${Math.floor(s / 60)} min`;
	if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
	return `${Math.floor(s / 86400)} days`;
}

export const age = (iso) => (now() - Date.parse(iso) < 1000 ? "just now" : `${span(now() - Date.parse(iso))} ago`);

// expiry says when an item expires, or who is asked next.
export function expiry(it) {
	if (!it.expires) return "never expires";
	const left = Date.parse(it.expires) - now();
	if (left <= 0) return it.escalate ? "escalates" : "expired";
	return `${it.escalate ? "escalates" : "expires"} in ${span(left)}`;
}

export const soon = (iso) => iso && Date.parse(iso) - now() < 60_000;

export const clock = (iso) => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
