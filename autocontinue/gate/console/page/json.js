// JSON as it is written, without a change of a digit. The server has indented it: a line of a member of the outermost object
// begins with two spaces, and no string has a line break.

export const compact = (json) => json.replace(/\n */g, "");

// members returns the members of an object: the key, how it is written, and the value, indented.
export function members(json) {
	const list = json.slice(4, -2).split(/,\n {2}(?=")/).filter(Boolean);
	return list.map((member) => {
		const [, name, value] = member.match(/^"((?:[^"\\]|\\.)*)": (.*)$/s);
		return { key: JSON.parse(`"${name}"`), name, value: value.replace(/\n {2}/g, "\n") };
	});
}
