// JSON as it is written, without a change of a digit. The server has indented it: a line of a member of the outermost object
// begins with two spaces, and no string has a line break.

export const compact = (json) => json.replace(/\n */g, "");

// members returns the members of an object: the key, how it is written, and the value, indented.
export function members(json) {
	const list = json.slice(4, -2).split(/,\n {2}(?=")/).filter(Boolean);
	return list.map((member) => {
		let end = 1;
		while (end < member.length && member[end] !== '"') end += member[end] === "\\" ? 2 : 1;
		const name = member.slice(1, end);
		return { key: JSON.parse(`"${name}"`), name, value: member.slice(end + 3).replace(/\n {2}/g, "\n") };
	});
}

// textOf returns the text of a response as it is shown, which is written in one way: only what nobody sees is an escape there,
// and stays one.
const shownAs = { "r\\n": "\n", n: "\n", t: "\t", '"': '"', "\\": "\\", r: "\\x0d", b: "\\x08", f: "\\x0c" };
const textOf = (json) => json.replace(/\\(r\\n|u00[0-7].|[^])/g, (all, c) => shownAs[c] ?? (c.length === 5 ? `\\x${c.slice(3)}` : all));

// responseOf returns the parts of a response: text and, perhaps, a2ui.
export function responseOf({ text: json, size, cut }) {
	const list = members(cut ? `${json}\n}` : json);
	const parts = list.map(({ key, value }, i) => {
		const isCut = Boolean(cut) && i === list.length - 1;
		const text = key === "text" ? textOf(value.slice(1, isCut ? undefined : -1)) : value;
		return [key, { text, size: isCut ? size : new Blob([text]).size, cut: isCut }];
	});
	return { text: { text: "", size: 0 }, ...Object.fromEntries(parts) };
}

// restore returns what a person typed, with every line that they did not change as it was before. seen is what they saw.
function restore(before, seen, typed) {
	const was = new Map(); // lines, by what the person saw of them
	const lines = before.split("\n");
	for (const [i, l] of [...seen.split("\n").entries()].reverse()) was.set(l, was.get(l) || []).get(l).push(lines[i]);
	return typed.split("\n").map((l) => was.get(l)?.pop() ?? l).join("\n");
}

// patch returns an object in which some values, as JSON, are replaced: what nobody touched stays as it is. null removes one.
export function patch({ json, texts }, changes) {
	const list = members(json);
	for (const [key, value] of Object.entries(changes)) {
		let m = list.find((one) => one.key === key);
		if (!m) list.push((m = { key, name: JSON.stringify(key).slice(1, -1) }));
		const was = m.value;
		m.value = value;
		if (value === null) continue;
		let typed;
		try {
			typed = JSON.parse(value);
		} catch {
			throw new Error(`The value of ${m.name} is not JSON.`);
		}
		if (typeof typed === "string" && Object.hasOwn(texts, key)) m.value = JSON.stringify(restore(JSON.parse(was), texts[key], typed));
	}
	return `{${list.filter((m) => m.value !== null).map((m) => `"${m.name}":${m.value}`).join(",")}}`;
}
