// What asks: checkboxes for gates and tools, and the list of rules. The server keeps both; the page asks and shows.

import { $, announce, el, trouble } from "./dom.js";
import { show } from "./diff.js";
import { onChange, state } from "./state.js";

let base = null; // { version, rules } that the text being edited began with

const gateNames = { context: ["Run staging", "every message before it is sent"], response: ["Responses", "every answer before it is shown"] };

function box(b, kind, ask) {
	const [name, what] = kind === "gate" ? gateNames[b.name] : [b.name, ""];
	const input = el("input", {
		type: "checkbox",
		"data-ask": b.name,
		change: async () => {
			const on = input.checked;
			input.checked = !on; // until the server says so
			try {
				await ask({ t: "ask", [kind]: b.name, on, version: state.settings.version });
				trouble($("rules-error"), "");
				announce(`${name}: ${on ? "asks" : "does not ask"}.`);
			} catch (e) {
				trouble($("rules-error"), e.message);
			}
			document.querySelector(`[data-ask="${CSS.escape(b.name)}"]`)?.focus();
		},
	});
	input.checked = b.then === "ask";
	input.disabled = b.then === "deny" && b.rule.includes(": deny"); // a rule denies; what none knows can be let ask
	const verdict = { ask: "asks", allow: "passes", deny: "denied" }[b.then];
	return el(
		"label",
		{ class: `box is-${b.then}` },
		input,
		el("span", { class: kind === "tool" ? "mono" : "" }, name, what ? el("span", { class: "aside" }, ` ${what}`) : null, ...(b.unless || []).map((u) => el("span", { class: "aside unless" }, u))),
		el("span", { class: "verdict", title: b.rule }, verdict),
	);
}

export function startRules(ask) {
	const text = $("rules-text");
	const dirty = () => base && text.value !== base.rules;

	function changes() {
		$("rules-diff").replaceChildren(...(dirty() ? [show(base.rules, text.value, "Changes of the rules")] : []));
		$("rules-save").disabled = !dirty();
		$("rules-reset").disabled = !dirty();
		$("rules-state").textContent = dirty() ? "Not saved" : "";
	}

	function adopt() {
		base = { version: state.settings.version, rules: state.settings.rules };
		text.value = base.rules;
		changes();
	}

	onChange((c) => {
		if (!c.has("settings")) return;
		const s = state.settings;
		$("gates").replaceChildren($("gates").firstElementChild, ...s.gates.map((b) => box(b, "gate", ask)));
		$("tools").replaceChildren($("tools").firstElementChild, ...(s.tools || []).map((b) => box(b, "tool", ask)));
		$("tools").hidden = !s.tools?.length;
		$("audited").checked = s.audited;
		$("unaudited").hidden = s.audited;
		$("rules-kept").textContent = s.kept ? "They are kept in a file by the server." : "They are kept in the session's journal.";
		if (!dirty()) adopt();
		else if (s.version !== base.version) trouble($("policy-error"), "The rules were changed meanwhile. Discard your changes to see them.");
	});

	text.addEventListener("input", changes);
	text.addEventListener("keydown", (e) => {
		if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
			e.preventDefault();
			$("policy").requestSubmit();
		}
	});
	$("rules-reset").addEventListener("click", () => {
		trouble($("policy-error"), "");
		adopt();
		text.focus();
	});
	$("policy").addEventListener("submit", async (e) => {
		e.preventDefault();
		if (!dirty()) return;
		try {
			const rules = text.value;
			await ask({ t: "policy", version: base.version, rules });
			trouble($("policy-error"), "");
			adopt();
			$("rules-state").textContent = "Saved";
		} catch (err) {
			trouble($("policy-error"), err.message);
		}
	});
	$("audited").addEventListener("change", async (e) => {
		const on = e.target.checked;
		e.target.checked = !on;
		try {
			await ask({ t: "audited", on });
			trouble($("rules-error"), "");
		} catch (err) {
			trouble($("rules-error"), err.message);
		}
	});
}
