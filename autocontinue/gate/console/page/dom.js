// Small words for building the page. Text goes in as text nodes and never as markup; the server's policy of trusted types
// makes the browser refuse anything else.

export const $ = (id) => document.getElementById(id);

// el makes an element. Of props, functions are listeners, true and false set or leave out an attribute, the rest are
// attributes. Children are nodes, text, or nothing.
export function el(tag, props = {}, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(props)) {
		if (typeof value === "function") node.addEventListener(name, value);
		else if (value === true) node.setAttribute(name, "");
		else if (value !== false && value != null) node.setAttribute(name, value);
	}
	node.append(...children.filter((c) => c != null && c !== false));
	return node;
}

// trouble shows an error in its place, or takes it away.
export function trouble(node, text) {
	node.hidden = !text;
	node.textContent = text || "";
}

export function size(bytes) {
	if (bytes < 1024) return `${bytes} B`;
	if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KB`;
	return `${(bytes / 1048576).toFixed(1)} MB`;
}

const live = [];
let speaking = 0;

// announce tells a screen reader what happened, several things at once as one.
export function announce(text) {
	live.push(text);
	clearTimeout(speaking);
	speaking = setTimeout(() => {
		$("live").textContent = live.length > 3 ? `${live.length} things happened. ${live.at(-1)}` : live.join(" ");
		live.length = 0;
	}, 400);
}
