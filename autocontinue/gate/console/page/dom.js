// Helpers for building the page. Text becomes text nodes, never markup. The server's policy of trusted types makes the
// browser refuse anything else.

export const $ = (id) => document.getElementById(id);

// el makes an element. In props, functions are listeners, true and false set or leave out an attribute, and the rest are
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

// trouble shows an error in its place, or removes it.
export function trouble(node, text) {
	node.hidden = !text;
	node.textContent = text || "";
}

export function size(bytes) {
	if (bytes < 1024) return `${bytes} B`;
	if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KB`;
	return `${(bytes / 1048576).toFixed(1)} MB`;
}

// pieces cuts a text into pieces of at most limit characters: at line breaks, otherwise at spaces, otherwise anywhere.
export function pieces(text, limit) {
	const list = [];
	for (let at = 0; at < text.length; ) {
		let end = at + limit;
		if (end < text.length) {
			const breaks = [text.lastIndexOf("\n", end - 1), text.lastIndexOf(" ", end - 1)].filter((i) => i > at + limit / 2);
			end = breaks.length ? breaks[0] + 1 : end;
			const code = text.charCodeAt(end - 1);
			if (code >= 0xd800 && code < 0xdc00) end--; // not within a character
		}
		list.push(text.slice(at, end));
		at = end;
	}
	return list.length ? list : [""];
}

// fill puts a text into a block. The browser lays out only the pieces of a long text that are in sight. A piece that ends
// within a line says so.
export function fill(block, text) {
	const list = pieces(text, 8000);
	if (list.length === 1) return block.replaceChildren(text);
	block.replaceChildren(
		...list.map((p, i) => {
			const broken = p.endsWith("\n") || i === list.length - 1;
			return el("span", { class: broken ? "piece" : "piece goes-on" }, p.endsWith("\n") ? p.slice(0, -1) || "\n" : p);
		}),
	);
}

const live = [];
let speaking = 0;

// announce tells a screen reader what happened. Several things at once become one announcement.
export function announce(text) {
	live.push(text);
	clearTimeout(speaking);
	speaking = setTimeout(() => {
		$("live").textContent = live.length > 3 ? `${live.length} things happened. ${live.at(-1)}` : live.join(" ");
		live.length = 0;
	}, 400);
}

// confirmed asks a question and tells whether the answer was yes.
export function confirmed(title, text, yes, no = "Cancel") {
	const box = $("confirm");
	$("confirm-title").textContent = title;
	$("confirm-text").textContent = text;
	$("confirm-yes").textContent = yes;
	$("confirm-no").textContent = no;
	if (box.open) box.close();
	box.returnValue = "no";
	box.showModal();
	$("confirm-no").focus();
	return new Promise((done) => {
		box.onclose = () => box.open || done(box.returnValue === "yes"); // the event of an earlier question may come late
	});
}
