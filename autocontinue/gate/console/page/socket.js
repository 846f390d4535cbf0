// The connection. It resumes after the last event that was seen, and every command gets one answer.

const silence = 45_000; // after this long without a sign of life, the connection is dead
const base = new URL("./../", import.meta.url); // the console's path

export const address = (name) => new URL(name, base);

export class Lost extends Error {}

export class Socket {
	// seen returns the number of the last event and what it counts in. take gets each frame. changed gets "open", "lost" or
	// "unknown".
	constructor({ seen, take, changed }) {
		Object.assign(this, { seen, take, changed });
		this.waiting = new Map();
		this.tries = 0;
		this.count = 0;
		this.ended = false;
		addEventListener("online", () => this.retry());
		document.addEventListener("visibilitychange", () => !document.hidden && this.retry());
	}

	open() {
		clearTimeout(this.timer);
		const url = address("ws");
		url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
		const { seq, of } = this.seen();
		url.searchParams.set("after", seq);
		url.searchParams.set("of", of);
		const ws = new WebSocket(url);
		this.ws = ws;
		ws.onmessage = (m) => {
			if (this.ws !== ws) return;
			this.alive();
			const f = JSON.parse(m.data);
			if (f.t === "hello") this.tries = 0;
			if (f.t === "reply") return this.answer(f);
			this.take(f);
			if (f.t === "settings") this.changed("open"); // it follows what the page has missed
		};
		ws.onclose = () => this.ws === ws && this.lost();
		this.alive();
	}

	alive() {
		clearTimeout(this.watch);
		this.watch = setTimeout(() => this.lost(), silence);
	}

	async lost() {
		clearTimeout(this.watch);
		const ws = this.ws;
		this.ws = null;
		ws?.close();
		for (const { reject } of this.waiting.values()) reject(new Lost("The connection was lost before the answer came. The page shows what was decided when it is back."));
		this.waiting.clear();
		if (this.ended) return;
		this.changed("lost");
		const me = await fetch(address("me")).catch(() => null);
		if (this.ended || this.ws) return;
		if (me?.status === 401) return this.changed("unknown");
		this.tries++;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.open(), Math.min(5000, 200 * 2 ** Math.min(this.tries, 5)) * (0.7 + 0.6 * Math.random()));
	}

	retry() {
		if (!this.ws && !this.ended && this.tries) this.open();
	}

	end() {
		this.ended = true;
		clearTimeout(this.timer);
		this.lost();
	}

	get ready() {
		return this.ws?.readyState === WebSocket.OPEN;
	}

	// ask sends a command and resolves with the data of its reply. It rejects with an Error that has a code, or with Lost.
	ask(command) {
		return new Promise((resolve, reject) => {
			if (!this.ready) return reject(new Lost("There is no connection; nothing was sent."));
			const id = `c${++this.count}`;
			this.waiting.set(id, { resolve, reject });
			this.ws.send(JSON.stringify({ ...command, id }));
		});
	}

	answer(f) {
		const w = this.waiting.get(f.id);
		this.waiting.delete(f.id);
		if (!f.error) return w?.resolve(f.data);
		w?.reject(Object.assign(new Error(f.error.message), { code: f.error.code }));
	}
}
