// Notifications of the browser for what waits. The page asks for them once, if somebody presses the button.

import { $ } from "./dom.js";
import { kinds, title } from "./state.js";

const asked = () => localStorage.getItem("notify") === "asked";

export function startNotify() {
	const box = $("notify");
	box.hidden = !("Notification" in window) || Notification.permission !== "default" || asked();
	box.addEventListener("click", async () => {
		localStorage.setItem("notify", "asked");
		box.hidden = true;
		await Notification.requestPermission();
	});
}

// notify tells about an item if nobody looks at the page. open is called when somebody clicks.
export function notify(it, open) {
	if (!("Notification" in window) || Notification.permission !== "granted" || (!document.hidden && document.hasFocus())) return;
	const n = new Notification(`${kinds[it.kind]}: ${title(it)}`, { body: it.text || it.label || "", tag: it.id });
	n.onclick = () => {
		window.focus();
		open();
		n.close();
	};
}
