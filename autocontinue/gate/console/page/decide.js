// The forms of the card: edit, deny, answer in the tool's place, stop, always allow.

import { el, trouble } from "./dom.js";
import { fieldsOf, formEditor, textEditor } from "./editor.js";
import { compact, members, patch, responseOf } from "./json.js";
import { withRule } from "./rules.js";
import { state } from "./state.js";

let decide; // sends a decision about an item
let back; // shows the item again

export function startForms(actions) {
	({ decide, back } = actions);
}

// form wraps the fields of a decision. begin puts the cursor into the first one.
function form(error, label, kind, { send, begin, inside }) {
	const f = el("form", { class: "decide" }, ...inside, error);
	const keys = (text) => el("kbd", { "aria-hidden": "true" }, text);
	f.append(el("footer", { class: "actions" }, el("button", { type: "submit", class: kind }, el("span", {}, label), keys("Ctrl ↵")), el("button", { type: "button", class: "plain-button", click: () => back() }, "Back", keys("Esc"))));
	f.addEventListener("submit", (e) => {
		e.preventDefault();
		send();
	});
	f.addEventListener("keydown", (e) => {
		if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
			e.preventDefault();
			f.requestSubmit();
		}
	});
	f.begin = begin;
	return f;
}

// later calls f a moment after the last call.
function later(f) {
	let timer = 0;
	return () => {
		clearTimeout(timer);
		timer = setTimeout(f, 120);
	};
}

// reasonForm asks for a reason.
function reasonForm(it, error, label, action, help, note) {
	const reason = el("input", { id: "reason", autocomplete: "off", maxlength: "1000" });
	const send = () => decide(it, { t: "decide", action, reason: reason.value });
	const inside = [note && el("p", { class: "hint" }, note), el("label", { for: "reason" }, "Reason", el("span", { class: "hint" }, ` optional. ${help}`)), reason];
	return form(error, label, "danger", { send, begin: () => reason.focus(), inside: inside.filter(Boolean) });
}

const maxCompared = 4096; // characters of a value that a rule compares with
const maxArguments = 20;

// suggest returns what a rule may say about each argument of a call. The first choice is exactly what the call has, or nothing
// if that is too long to compare. The last one is anything. Only that one accepts more than its label says.
export function suggest(json) {
	const list = members(json);
	if (list.length > maxArguments) throw new Error("A rule cannot be suggested for this. Write it on the Rules page.");
	return list.map(({ key, name, value: indented }) => {
		const value = compact(indented);
		const at = JSON.stringify(`/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
		const choice = (label, test, what) => ({ label, condition: `{"at": ${at}, "${test}": ${what}}` });
		const shown = value.length > 160 ? `${value.slice(0, 160)}…` : value;
		const anything = choice("anything", "exists", "true");
		if (value.length > maxCompared) return { name, choices: [{ label: "too long to compare: choose", condition: "" }, anything] };
		const choices = [choice(`exactly ${shown}`, "equals", value)];
		// A shell line, probably: a program and a word that is not an option.
		const [, form] = value.match(/^"([\w./:=@%+,-]+ [\w./:=@%+,][\w./:=@%+,-]*)(?: [\w./:=@%+, -]*)?"$/) || [];
		if (form) choices.push(choice(`commands: ${form} *`, "command", `"${form} *"`));
		const [, folder] = value.match(/^"([^"\\]+)\/[^"\\/]*"$/) || [];
		const pathsAreTested = state.settings.rules.includes('"path"'); // otherwise the session may have no folder
		if (folder && pathsAreTested) choices.push(choice(`everything below ${folder}`, "path", `"${folder}"`));
		return { name, choices: [...choices, anything] };
	});
}

export const forms = {
	edit(it, bodies, error) {
		const w = bodies.write;
		const changes = el("div", { class: "changes" });
		const draw = () => {
			const all = editors.flatMap((e) => e.changes());
			changes.replaceChildren(...(all.length ? all : [el("p", { class: "hint" }, "Nothing is changed yet.")]));
		};
		const changed = later(draw);
		const body = { what: "body", name: it.kind === "tool" ? "Arguments" : "Payload", before: w.json, initial: w.json, changed };
		const box = el("div", { class: "fields" });
		let editors = [];
		const fields = it.kind === "response" ? null : fieldsOf(w);
		const response = it.kind === "response" ? responseOf({ text: w.json }) : {};
		const a2ui = response.a2ui?.text;
		let asForm = Boolean(fields);
		const notes = [];
		const set = () => {
			if (it.kind === "response") {
				editors = [textEditor(it, { what: "text", name: "Text", before: response.text.text, initial: w.texts.text, prose: true, changed })];
				if (a2ui) editors.push(textEditor(it, { ...body, name: "Interface (A2UI)", before: a2ui, initial: a2ui }));
			} else {
				editors = [asForm ? formEditor(it, fields, changed) : textEditor(it, body)];
			}
			box.replaceChildren(...editors.flatMap((e) => e.nodes));
			draw();
		};
		if (it.kind === "response" && response.text.text !== w.texts.text) {
			notes.push(el("p", { class: "cut" }, "In a line that you change, unusual spaces become plain ones, and characters that cannot be seen are left out. Other lines stay as they are."));
		}
		if (fields) {
			const toggle = el("button", { type: "button", class: "plain-button small", id: "edit-mode" }, "Edit as JSON");
			toggle.addEventListener("click", () => {
				if (editors.some((e) => e.isChanged())) return trouble(error, "Undo or send your changes before you switch.");
				asForm = !asForm;
				toggle.textContent = asForm ? "Edit as JSON" : "Edit as a form";
				trouble(error, "");
				set();
			});
			notes.push(el("div", { class: "row" }, toggle));
		}
		set();
		const send = () => {
			if (!editors.some((e) => e.isChanged())) return trouble(error, "Nothing is changed yet. To let it go on as it is, go back and approve.");
			const [first, second] = editors.map((e) => e.value());
			let body = first;
			try {
				if (asForm) body = patch(w, first);
				if (it.kind === "response") body = patch(w, { text: JSON.stringify(first), ...(a2ui && { a2ui: second.trim() || null }) });
			} catch (e) {
				return trouble(error, e.message);
			}
			decide(it, { t: "decide", action: "edit", body });
		};
		const label = { context: "Edit and send", tool: "Approve with this edit", response: "Show this instead" }[it.kind];
		return form(error, label, "primary", { send, begin: () => editors[0].focus(), inside: [...notes, box, changes] });
	},

	deny: (it, _, error) => reasonForm(it, error, "Deny", "deny", it.kind === "context" ? "The run ends, and nothing is sent." : "The agent can read it."),

	stop: (it, _, error) => reasonForm(it, error, "Stop the run", "stop", "The agent can read it.", "The whole run ends. Everything else of it that waits is withdrawn."),

	respond(it, _, error) {
		const editor = textEditor(it, { what: "result", name: "Result", before: "", initial: "{}", changed() {} });
		const send = () => decide(it, { t: "decide", action: "respond", body: editor.value() });
		const note = el("p", { class: "hint" }, "The tool is not executed. The agent reads this as its result, any JSON value.");
		return form(error, "Send this result", "primary", { send, begin: editor.focus, inside: [note, ...editor.nodes] });
	},

	// The rule begins as narrow as the call. The person widens it, argument by argument, or writes it.
	allow(it, { body, suggestion: args }, error) {
		const call = compact(body.text);
		const count = `{"at": "", "count_under": ${args.length + 1}}`;
		const rule = el("textarea", { id: "allow-rule", class: "code", spellcheck: "false", autocomplete: "off" });
		const scope = el("select", { id: "allow-scope" }, el("option", { value: it.thread }, `In this conversation (${it.thread})`), el("option", { value: "" }, "In every conversation, for good"));
		const selects = args.map((arg, i) => {
			const options = arg.choices.map((c, j) => el("option", { value: j }, c.label));
			return [arg, el("select", { id: `allow-${i}`, change: () => write() }, ...options)];
		});
		const meaning = el("p", { class: "hint", role: "status" });
		const fit = () => {
			rule.rows = 4;
			const padding = 18;
			rule.rows = Math.ceil((4 * (rule.scrollHeight - padding)) / (rule.clientHeight - padding)); // all of it is shown
		};
		function write() {
			error.hidden = true; // it was about the rule before
			const exact = call.length <= maxCompared && selects.every(([, box]) => box.selectedIndex === 0);
			const chosen = exact ? [`{"at": "", "equals": ${call}}`] : [...selects.map(([arg, box]) => arg.choices[box.selectedIndex].condition), count];
			const thread = scope.value ? ` "thread": ${JSON.stringify(scope.value)},` : "";
			const open = selects.filter(([arg, box]) => !arg.choices[box.selectedIndex].condition).map(([arg]) => arg.name);
			const wide = selects.filter(([arg, box]) => box.selectedIndex === arg.choices.length - 1).map(([arg]) => arg.name);
			rule.value = open.length ? "" : `{"tool": ${JSON.stringify(it.tool)},${thread}\n "when": [\n  ${chosen.join(",\n  ")}],\n "then": "always"}`;
			if (open.length) meaning.textContent = `Choose what ${open.join(", ")} may be: it is too long for a rule to compare.`;
			else if (exact) meaning.textContent = "Only this call, with exactly these arguments.";
			else meaning.textContent = `${it.tool}${wide.length ? ` with any ${wide.join(", ")}` : ""}, and no other arguments.`;
			fit();
		}
		scope.addEventListener("change", write);
		rule.addEventListener("input", () => {
			error.hidden = true;
			meaning.textContent = "As you wrote it. It must match this call.";
			fit();
		});
		const rows = selects.map(([arg, box]) => el("div", { class: "field" }, el("label", { for: box.id }, el("code", {}, arg.name)), box));
		const inside = [
			el("p", { class: "hint" }, "The rule allows this call now and calls like it from now on, even where another rule asks. A rule that denies still wins."),
			el("label", { for: "allow-rule" }, "The rule"),
			rule,
			meaning,
			el("div", { class: "field" }, el("label", { for: "allow-scope" }, "Where"), scope),
			...rows,
		];
		const send = () => {
			if (!rule.value.trim()) return trouble(error, meaning.textContent);
			const end = rule.getBoundingClientRect().bottom;
			const fold = f.querySelector(".actions").getBoundingClientRect().top;
			if (end < 80 || end > fold + 1) { // the buttons, or the top of the page, cover it
				rule.scrollIntoView({ block: "end" });
				meaning.textContent = "Read the whole rule, then send it again.";
				return;
			}
			decide(it, { t: "decide", action: "approve" }, { t: "policy", was: state.settings.rules, rules: withRule(rule.value), item: it.id });
		};
		const begin = () => {
			write();
			new ResizeObserver(fit).observe(scope); // its width changes with the page
			rule.focus({ preventScroll: true });
			rule.setSelectionRange(0, 0);
		};
		const f = form(error, "Approve, and always allow", "primary", { send, begin, inside });
		return f;
	},
};
