// Fields to edit a text, or a flat object. A long text is edited in parts, so that typing stays fast. What was typed is kept
// over a reload.

import { el, pieces } from "./dom.js";
import { show } from "./diff.js";
import { members } from "./json.js";

const longText = 100_000; // characters of a text that is edited in parts
const partSize = 32_000;

// kept holds what was typed, in the session storage of the tab.
function kept(key) {
	return {
		get: () => JSON.parse(sessionStorage.getItem(key) || "{}"),
		set(values) {
			try {
				sessionStorage.setItem(key, JSON.stringify(values));
			} catch {
				// The browser keeps no more; the text stays in its field.
			}
		},
	};
}

// forget drops what was typed for an item.
export function forget(it) {
	for (const key of Object.keys(sessionStorage)) if (key.startsWith(`edit ${it.id} `)) sessionStorage.removeItem(key);
}

const rowsOf = (text, least, most) => Math.max(least, Math.min(most, text.split("\n").length + 1));

// textEditor returns the fields of one text. before is how the text was displayed; initial is what the edit begins with.
export function textEditor(it, { what, name, before, initial, prose = false, changed }) {
	const store = kept(`edit ${it.id} ${it.digest} ${what}`);
	const start = initial.length > longText ? pieces(initial, partSize) : [initial];
	const typed = store.get();
	const parts = start.map((p, i) => typed[i] ?? p);
	let at = 0;
	const box = el("textarea", { id: `edit-${what}`, class: prose ? "prose" : "code", rows: rowsOf(start[0], 5, 15), spellcheck: "false", autocomplete: "off" });
	box.value = parts[0];
	const keep = () => {
		parts[at] = box.value;
		store.set(Object.fromEntries(parts.map((p, i) => [i, p]).filter(([i, p]) => p !== start[i])));
	};
	box.addEventListener("input", () => {
		keep();
		changed();
	});
	const nodes = [el("label", { for: box.id }, name), box];
	if (parts.length > 1) {
		const where = el("span", { class: "hint", role: "status" });
		const turn = (to) => {
			at = Math.max(0, Math.min(parts.length - 1, to));
			box.value = parts[at];
			box.setSelectionRange(0, 0);
			box.scrollTop = 0;
			where.textContent = `Part ${at + 1} of ${parts.length}`;
		};
		const words = el("input", { type: "search", id: `find-${what}`, placeholder: "Find", "aria-label": `Find in ${name.toLowerCase()}` });
		const find = () => {
			if (!words.value) return;
			const from = box.selectionEnd;
			for (let n = 0; n <= parts.length; n++) {
				const i = (at + n) % parts.length;
				const found = parts[i].indexOf(words.value, n === 0 ? from : 0);
				if (found < 0) continue;
				if (i !== at || n) turn(i);
				box.focus();
				box.setSelectionRange(found, found + words.value.length);
				return;
			}
			where.textContent = "Not found";
		};
		words.addEventListener("keydown", (e) => {
			if (e.key !== "Enter" || e.ctrlKey || e.metaKey) return;
			e.preventDefault();
			find();
		});
		const small = (label, click) => el("button", { type: "button", class: "plain-button small", click }, label);
		nodes.push(el("div", { class: "parts" }, small("Previous", () => turn(at - 1)), small("Next", () => turn(at + 1)), where, words, small("Find", find)));
		turn(0);
	}
	return {
		nodes,
		focus() {
			box.focus();
			box.setSelectionRange(0, 0);
		},
		value: () => parts.join(""),
		isChanged: () => parts.some((p, i) => p !== start[i]),
		changes() {
			if (parts.length === 1) return parts[0] === start[0] ? [] : [show(initial, parts[0], `Changes of ${name.toLowerCase()}`, before)];
			return parts.flatMap((p, i) => (p === start[i] ? [] : [show(start[i], p, `Changes of part ${i + 1}`)]));
		},
	};
}

const maxFields = 30;
const maxFieldText = 4096; // characters of a value

// fieldsOf returns the values of an object for a form, and those that only the schema has; null if it is not flat enough.
export function fieldsOf({ json, texts = {}, schema }) {
	const properties = schema?.properties || {};
	const list = members(json);
	for (const key of Object.keys(properties).sort()) {
		if (!list.some((m) => m.key === key)) list.push({ key, name: key, value: "" });
	}
	if (list.length > maxFields || list.some((m) => m.value.length > maxFieldText || /^\[\s*\{/.test(m.value))) return null;
	const types = { '"': "text", t: "boolean", f: "boolean", n: "json", "[": "json", "{": "json" };
	const typesOfSchemas = { string: "text", integer: "number", number: "number", boolean: "boolean" };
	return list.map(({ key, name, value }) => {
		const p = properties[key] || {};
		const type = value ? types[value[0]] || "number" : typesOfSchemas[p.type] || "json";
		const exact = Array.isArray(p.enum) && p.enum.every((c) => typeof c !== "number" || Number.isSafeInteger(c)); // other numbers lose digits here
		return {
			key,
			label: p.title || name.slice(0, 100),
			help: p.description,
			type,
			value: value && type === "text" ? texts[key] : value,
			choices: exact ? p.enum.map((c) => JSON.stringify(c)) : null,
			absent: !value,
		};
	});
}

// formEditor returns one input for each field of a flat object.
export function formEditor(it, fields, changed) {
	const store = kept(`edit ${it.id} ${it.digest} fields`);
	const typed = store.get();
	const inputs = new Map();
	const nodes = fields.map((given, i) => {
		const f = { ...given };
		if (f.choices && f.type === "text") f.value = f.absent ? "" : JSON.stringify(f.value); // as the choices are written
		const id = `field-${i}`;
		const box = input(f, id);
		box.value = typed[f.key] ?? f.value;
		box.addEventListener("input", () => {
			store.set(Object.fromEntries([...inputs].filter(([g, b]) => b.value !== g.value).map(([g, b]) => [g.key, b.value])));
			changed();
		});
		inputs.set(f, box);
		const help = f.help ? el("span", { class: "hint", id: `${id}-help` }, f.help) : null;
		if (help) box.setAttribute("aria-describedby", help.id);
		return el("div", { class: "field" }, el("label", { for: id }, f.label, f.label !== f.key ? el("code", { class: "hint" }, ` ${f.key}`) : null), box, help);
	});
	const touched = () => [...inputs].filter(([f, box]) => box.value !== f.value);
	const json = (f, box) => (f.type === "text" && !f.choices ? JSON.stringify(box.value) : box.value.trim());
	return {
		nodes,
		focus: () => [...inputs.values()][0]?.focus(),
		isChanged: () => touched().length > 0,
		value: () => Object.fromEntries(touched().map(([f, box]) => [f.key, json(f, box)])),
		changes: () => touched().map(([f, box]) => show(f.value, box.value, `Change of ${f.label}`)),
	};
}

function input(f, id) {
	const choices = f.choices || (f.type === "boolean" ? ["true", "false"] : null);
	if (choices) {
		const all = choices.includes(f.value) ? choices : [f.value, ...choices];
		const word = (c) => (c.startsWith('"') ? JSON.parse(c) : c || "(not set)");
		return el("select", { id }, ...all.map((c) => el("option", { value: c }, word(c))));
	}
	if (f.type === "json") return el("textarea", { id, class: "code", rows: rowsOf(f.value, 1, 10), spellcheck: "false", autocomplete: "off" });
	if (f.type === "number") return el("input", { id, inputmode: "decimal", autocomplete: "off", class: "mono" });
	if (f.value.includes("\n") || f.value.length > 60) return el("textarea", { id, rows: rowsOf(f.value, 2, 8), autocomplete: "off" });
	return el("input", { id, autocomplete: "off" });
}
