// What asks: checkboxes for gates and tools, and the list of rules. The server keeps both. New rules are tried on the last
// calls while somebody writes them.

import { $, announce, confirmed, el, trouble } from "./dom.js";
import { show } from "./diff.js";
import { onChange, select, state } from "./state.js";

let base = null; // the rules that the text being edited began with

const gateNames = { context: ["Run staging", "every message before it is sent"], response: ["Responses", "every answer before it is shown"] };
const verdicts = { pending: "asks", approved: "passes", denied: "denied" };
const maxChanges = 20; // calls that a trial shows
const past = { pending: "asked", approved: "allowed", denied: "denied" };

// rulesOf returns the rules, which the server writes one a line.
const rulesOf = (text) => text.split("\n").slice(1, -2).map((line) => line.trim().replace(/,$/, ""));

// withRule returns the rules with one more.
export const withRule = (rule, list = rulesOf(state.settings.rules)) => `[${[...list, rule].join(",\n")}]`;

// rulesWith returns the rules with one that makes a gate or a tool ask or pass, in place of those that name it and have
// nothing else.
function rulesWith(kind, name, on) {
	const list = rulesOf(state.settings.rules).filter((text) => {
		const rule = JSON.parse(text);
		return Object.keys(rule).length !== 2 || rule[kind] !== name || rule.then === "deny";
	});
	return withRule(JSON.stringify({ [kind]: name, then: on ? "ask" : "allow" }), list);
}

function box(b, kind, ask) {
	const [name, what] = kind === "gate" ? gateNames[b.name] : [b.name, ""];
	const input = el("input", {
		type: "checkbox",
		"data-ask": b.name,
		change: async () => {
			const on = input.checked;
			input.checked = !on; // until the server says so
			try {
				await ask({ t: "policy", was: state.settings.rules, rules: rulesWith(kind, b.name, on), [kind]: b.name, on });
				trouble($("rules-error"), "");
				announce(`${name}: ${on ? "asks" : "does not ask"}.`);
			} catch (e) {
				trouble($("rules-error"), e.message);
			}
			document.querySelector(`[data-ask="${CSS.escape(b.name)}"]`)?.focus();
		},
	});
	input.checked = b.then === "pending";
	input.disabled = b.then === "denied" && b.rule.includes(": deny"); // a rule denies; a tool without a rule may ask
	return el(
		"label",
		{ class: `box is-${b.then}` },
		input,
		el("span", { class: kind === "tool" ? "mono" : "" }, name, what ? el("span", { class: "hint" }, ` ${what}`) : null, ...(b.unless || []).map((u) => el("span", { class: "hint unless" }, u))),
		el("span", { class: "verdict", title: b.rule }, verdicts[b.then]),
	);
}

function warn(list) {
	$("rules-warnings").hidden = !list?.length;
	$("rules-warnings").replaceChildren(...(list || []).map((w) => el("li", {}, w)));
}

// showTrial says what rules would have done to the last calls.
function showTrial(t, goReview) {
	if (!t.calls.length) return $("rules-trial").replaceChildren(el("p", { class: "hint" }, "There are no calls yet to try the rules on."));
	const would = (v) => t.calls.filter((c) => c.then === v).length;
	const counts = ["approved", "pending", "denied"].filter(would).map((v) => `${past[v]} ${would(v)}`);
	const changed = t.calls.filter((c) => c.was !== c.then).slice(0, maxChanges);
	const calls = changed.map((c) => {
		const open = () => {
			select(c.item);
			goReview();
		};
		return el("li", { title: c.rule }, el("button", { type: "button", class: "plain-link", click: open }, el("code", {}, c.tool)), ` ${past[c.was]} → ${past[c.then]} `, el("code", { class: "hint" }, c.args));
	});
	$("rules-trial").replaceChildren(
		el("p", {}, `Of the last ${t.calls.length} ${t.calls.length === 1 ? "call" : "calls"}, these rules would have ${counts.join(", ")}.`),
		calls.length ? el("ul", {}, ...calls) : el("p", { class: "hint" }, "No call would have been judged otherwise than by the present rules."),
	);
}

export function startRules(ask, goReview) {
	const text = $("rules-text");
	const dirty = () => base !== null && text.value !== base;
	const fault = (message) => {
		const stale = dirty() && state.settings.rules !== base;
		trouble($("policy-error"), message || (stale ? "The rules were changed meanwhile. Discard your changes to see them." : ""));
	};

	let timer = 0;
	let turn = 0;
	function tryLater() {
		clearTimeout(timer);
		const mine = ++turn;
		$("rules-trial").replaceChildren();
		if (!dirty()) return warn(state.settings.warnings);
		timer = setTimeout(async () => {
			try {
				const t = await ask({ t: "try", rules: text.value });
				if (mine !== turn) return;
				fault("");
				showTrial(t, goReview);
				warn(t.warnings);
			} catch (e) {
				if (mine === turn) fault(e.message);
			}
		}, 500);
	}

	function changes() {
		$("rules-diff").replaceChildren(...(dirty() ? [show(base, text.value, "Changes of the rules")] : []));
		$("rules-save").disabled = !dirty();
		$("rules-reset").disabled = !dirty();
		$("rules-state").textContent = dirty() ? "Not saved" : "";
		tryLater();
	}

	function adopt() {
		base = state.settings.rules;
		text.value = base;
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
		$("rules-kept").textContent = s.kept ? "The server keeps them in a file." : "They are kept in the session's journal.";
		if (!dirty()) adopt();
		else if (s.rules !== base) fault("");
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
		turn++; // a trial that is under way comes too late
		clearTimeout(timer);
		try {
			await ask({ t: "policy", was: base, rules: text.value });
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
		const sure = on || (await confirmed("Switch auditing off?", "Nobody is asked any more. Everything that no rule denies passes at once, and the journal says that nobody looked at it.", "Switch off", "Keep auditing"));
		if (!sure) return;
		try {
			await ask({ t: "audited", on });
			trouble($("rules-error"), "");
		} catch (err) {
			trouble($("rules-error"), err.message);
		}
	});
}
