// The page: signing in, the connection, the tabs, the keys.

import { $, announce, confirmed, trouble } from "./dom.js";
import { startCard, start, step, escape } from "./card.js";
import { startChat } from "./chat.js";
import { startEvents } from "./events.js";
import { startNotify } from "./notify.js";
import { startQueue } from "./queue.js";
import { startRules } from "./rules.js";
import { Socket, address } from "./socket.js";
import { state, take } from "./state.js";
import { serverSays } from "./time.js";

const post = (name, body) => fetch(address(name), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

// tokenOfAddress removes the token from the address, and thus from the history.
function tokenOfAddress() {
	const token = new URLSearchParams(location.hash.slice(1)).get("token");
	if (location.hash) history.replaceState(null, "", location.pathname);
	return token;
}

// signIn exchanges a token for a cookie and returns what is wrong. A browser that is signed in becomes another person only
// if somebody says so.
async function signIn(token) {
	let r = await post("login", { token }).catch(() => null);
	let data = await r?.json();
	if (r?.status === 409) {
		if (!(await confirmed("Sign in as another person?", data.error.message, "Switch", "Stay signed in"))) return "";
		r = await post("login", { token, switch: true }).catch(() => null);
		data = await r?.json();
		if (r?.ok) sessionStorage.clear();
	}
	if (!r) return "The server does not answer.";
	return r.ok ? "" : data.error.message;
}

async function enter() {
	const token = tokenOfAddress();
	let why = token ? await signIn(token) : "";
	const me = await fetch(address("me")).catch(() => null);
	if (me?.ok) {
		const { name } = await me.json();
		if (!state.name || state.name === name) return open(why);
		return location.reload(); // another person: nothing of the one before may stay
	}
	$("app").hidden = true;
	$("sign-in").hidden = false;
	if (!me) why = "The server does not answer.";
	trouble($("login-error"), why);
	$("token").focus();
}

$("login").addEventListener("submit", async (e) => {
	e.preventDefault();
	let token = $("token").value.trim();
	const at = token.indexOf("#token="); // the whole link is fine too
	if (at >= 0) token = token.slice(at + 7);
	const why = await signIn(token);
	trouble($("login-error"), why);
	if (why) return $("token").focus();
	$("token").value = "";
	open();
});

addEventListener("hashchange", enter);

$("logout").addEventListener("click", async () => {
	socket?.end();
	await post("logout", {}).catch(() => null);
	sessionStorage.clear();
	location.reload();
});

function go(tab, focus = true) {
	trouble($("said"), "");
	$("app").dataset.tab = tab;
	$("rules").hidden = tab !== "rules";
	$("review").hidden = tab === "rules";
	for (const b of document.querySelectorAll("[data-go]")) {
		if (b.dataset.go === tab) b.setAttribute("aria-current", "page");
		else b.removeAttribute("aria-current");
	}
	if (focus && tab === "chat") $("message").focus();
}

for (const b of document.querySelectorAll("[data-go]")) b.addEventListener("click", () => go(b.dataset.go, false));

let socket = null;
const ask = (command) => socket.ask(command);

function linkChanged(how) {
	const app = $("app");
	app.dataset.link = how;
	$("link-text").textContent = { open: "Live", lost: "Reconnecting" }[how] || "";
	$("lost").hidden = how !== "lost";
	$("lost").textContent = how === "lost" ? "The connection is lost; trying again. Nothing is sent meanwhile." : "";
	if (how === "open" && linkChanged.was === "lost") announce("Connected again.");
	linkChanged.was = how;
	if (how !== "unknown") return;
	socket.end();
	socket = null;
	app.hidden = true;
	$("sign-in").hidden = false;
	trouble($("login-error"), "You are signed out. Open a new link of the host.");
	$("token").focus();
}

let begun = false;
function open(why) {
	$("sign-in").hidden = true;
	$("app").hidden = false;
	if (!begun) {
		begun = true;
		startQueue();
		startEvents();
		startChat(ask, () => go("review"));
		startRules(ask, () => go("review"));
		startNotify();
		startCard(ask);
		go("review", false);
	}
	if (why) {
		trouble($("said"), why);
	}
	if (socket) return;
	socket = new Socket({
		seen: () => state,
		take(f) {
			if (f.now) serverSays(f.now);
			if (f.t === "hello") {
				state.name = f.name;
				state.of = f.of;
				if (!state.seq) state.thread = f.thread;
				state.chat = Boolean(f.chat);
				$("say").hidden = !f.chat;
				$("who").textContent = f.name;
			}
			take(f);
		},
		changed: linkChanged,
	});
	socket.open();
}

// Keys. They do nothing while somebody types, with a modifier, or when held down.
const keysOn = $("keys-on");
keysOn.checked = localStorage.getItem("keys") !== "off";
keysOn.addEventListener("change", () => localStorage.setItem("keys", keysOn.checked ? "on" : "off"));
$("keys-open").addEventListener("click", () => $("keys").showModal());

const actions = { a: () => start("approve"), e: () => start("edit"), d: () => start("deny"), r: () => start("respond"), w: () => start("allow"), n: () => step(1), p: () => step(-1) };

addEventListener("keydown", (e) => {
	if ($("app").hidden || $("keys").open || $("confirm").open) return;
	if (e.key === "Escape" && escape()) return e.preventDefault();
	if (e.repeat || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || !keysOn.checked) return;
	if (e.target.closest?.("input, textarea, select, [contenteditable]")) return;
	if (e.key === "?") return $("keys").showModal();
	const act = actions[e.key.toLowerCase()];
	if (!act || $("app").dataset.tab === "rules") return;
	e.preventDefault();
	if ($("app").dataset.tab === "chat") go("review", false);
	act();
});

enter();
