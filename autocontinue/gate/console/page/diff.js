// What an edit changes, line by line. It compares texts, so that a number differs only if its digits do.

import { el } from "./dom.js";

const maxCells = 4_000_000; // of the table; beyond it the changed part is shown as replaced
const context = 3; // unchanged lines beside a change
const maxLines = 600;
const maxLine = 500; // characters

// lines returns [sign, line] pairs: " " unchanged, "-" removed, "+" added.
export function lines(before, after) {
	const a = before.split("\n");
	const b = after.split("\n");
	let head = 0;
	while (head < a.length && head < b.length && a[head] === b[head]) head++;
	let tail = 0;
	while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
	return [...a.slice(0, head).map((l) => [" ", l]), ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)), ...a.slice(a.length - tail).map((l) => [" ", l])];
}

function middle(a, b) {
	if (a.length === 1 && b.length === 1) return clip(a[0], b[0]);
	if (a.length * b.length > maxCells) return [...a.map((l) => ["-", l]), ...b.map((l) => ["+", l])];
	const width = b.length + 1;
	const common = new Uint32Array((a.length + 1) * width);
	for (let i = a.length - 1; i >= 0; i--) {
		for (let j = b.length - 1; j >= 0; j--) {
			common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
		}
	}
	const out = [];
	let i = 0;
	let j = 0;
	while (i < a.length || j < b.length) {
		if (i < a.length && j < b.length && a[i] === b[j]) {
			out.push([" ", a[i]]);
			i++;
			j++;
		} else if (j === b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
			out.push(["-", a[i++]]);
		} else {
			out.push(["+", b[j++]]);
		}
	}
	return out;
}

// clip returns the change of one line: of a long one, only the part around what differs.
function clip(a, b) {
	if (Math.max(a.length, b.length) <= maxLine) return [["-", a], ["+", b]];
	let head = 0;
	while (head < a.length && head < b.length && a[head] === b[head]) head++;
	let tail = 0;
	while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
	const around = (s) => {
		const from = Math.max(0, head - 80);
		const to = Math.min(s.length, s.length - tail + 80);
		return (from ? "…" : "") + s.slice(from, to) + (to < s.length ? "…" : "");
	};
	return [["-", around(a)], ["+", around(b)]];
}

const shorten = (l) => (l.length > 8 * maxLine ? `${l.slice(0, 8 * maxLine)}… (${l.length - 8 * maxLine} more characters)` : l);

// show returns the difference as a figure, without the unchanged parts. seen is how the lines of before were displayed, if
// that is not as they are compared.
export function show(before, after, name = "Changes", seen = before) {
	if (before === after) return el("p", { class: "hint" }, "Nothing is changed yet.");
	const displayed = seen.split("\n");
	let at = 0;
	const all = lines(before, after).map(([sign, line]) => {
		if (sign === "+") return [sign, line];
		const was = displayed[at++];
		return [sign, seen === before || was === undefined || was.length > maxLine ? line : was];
	});
	const near = new Uint8Array(all.length);
	all.forEach(([sign], i) => {
		if (sign !== " ") near.fill(1, Math.max(0, i - context), i + context + 1);
	});
	const box = el("div", { class: "diff code", tabindex: "0", role: "group", "aria-label": name });
	let skipped = 0;
	let shown = 0;
	const gap = () => {
		if (skipped) box.append(el("div", { class: "gap" }, `${skipped} unchanged ${skipped === 1 ? "line" : "lines"}`));
		skipped = 0;
	};
	for (let i = 0; i < all.length; i++) {
		const [sign, line] = all[i];
		if (!near[i]) {
			skipped++;
			continue;
		}
		gap();
		if (++shown > maxLines) {
			box.append(el("div", { class: "gap" }, `${all.length - i} more lines`));
			skipped = 0;
			break;
		}
		const tag = sign === "+" ? "ins" : sign === "-" ? "del" : "div";
		box.append(el(tag, {}, el("span", { class: "sign" }, sign === "-" ? "−" : sign), shorten(line)));
	}
	gap();
	const added = all.filter(([s]) => s === "+").length;
	const removed = all.filter(([s]) => s === "-").length;
	return el("figure", { class: "change" }, el("figcaption", {}, `${name}: ${removed} removed, ${added} added`), box);
}
