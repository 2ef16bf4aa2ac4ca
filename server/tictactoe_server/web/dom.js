/** DOM helpers: elements from one line, keyed lists that keep unchanged elements, and dialogs. Text is never parsed as markup. */

import { say, sayTitle } from "./catalogue.js";

/** The path of this server, which may share its host with others; "/" unless the page names another. */
let root = "";

export function urlOf(path = "/") {
	root ||= new URL(document.documentElement.dataset.root ?? "/", location.href).pathname;
	return root + path.slice(1);
}

/** @template {HTMLElement | SVGElement} E @param {E} element @param {Part[]} parts children, before them maybe attributes; those with two dashes are for the style sheet */
function fill(element, parts) {
	const hasAttributes = parts[0]?.constructor === Object;
	for (const [name, value] of Object.entries(hasAttributes ? /** @type {Attributes} */ (parts[0]) : {})) {
		if (name === "submit") element.addEventListener(name, (event) => event.preventDefault());
		if (typeof value === "function") element.addEventListener(name, value);
		else if (name.startsWith("--")) element.style.setProperty(name, String(value));
		else if ((name === "href" || name === "src") && String(value).startsWith("/")) element.setAttribute(name, urlOf(String(value)));
		else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : String(value));
	}
	show(element, .../** @type {(Child | Child[])[]} */ (hasAttributes ? parts.slice(1) : parts));
	return element;
}

/** Create an element: `h("p.note", { lang: "de" }, "Text")`. A function as an attribute is a listener; `false` and null are left out. @type {<T extends string>(tag: T, ...parts: Part[]) => ElementOf<T>} */
export function h(tag, ...parts) {
	const [name, ...kinds] = tag.split(".");
	const element = /** @type {any} */ (document.createElement(name));
	element.classList.add(...kinds);
	return fill(element, parts);
}

/** @type {<T extends keyof SVGElementTagNameMap>(tag: T, ...parts: Part[]) => SVGElementTagNameMap[T]} */
export const svg = (tag, ...parts) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), parts);

/** @param {Element} element @param {...(Child | Child[])} children */
export function show(element, ...children) {
	element.replaceChildren(...children.flat().flatMap((child) => child || []));
}

/**
 * Make the children of `parent` match a list, in its order. An element is made once for each key, and drawn each time.
 * @template T
 * @param {Element} parent @param {readonly T[]} items @param {(item: T) => string} keyOf
 * @param {(item: T) => Element} make @param {(element: any, item: T) => void} [draw]
 */
export function showKeyed(parent, items, keyOf, make, draw) {
	const before = new Map([...parent.children].map((child) => [child.getAttribute("data-key"), child]));
	const wanted = new Set(items.map(keyOf));
	for (const [key, child] of before) if (!wanted.has(key ?? "")) child.remove();
	items.forEach((item, at) => {
		const key = keyOf(item);
		const element = before.get(key) ?? make(item);
		if (!before.has(key)) element.setAttribute("data-key", key);
		if (parent.children[at] !== element) parent.insertBefore(element, parent.children[at] ?? null);
		draw?.(element, item);
	});
}

/** Return whether an element has to be redrawn because the value for this key has changed. @param {Element} element */
export function isStale(element, key = "") {
	const isOther = element.getAttribute("data-drawn") !== key;
	element.setAttribute("data-drawn", key);
	return isOther;
}

/** @param {Element} element */
export function setText(element, text = "") {
	if (element.textContent !== text) element.textContent = text;
}

/** A button; while a click is being carried out, as after a double click, it ignores further clicks. @param {() => unknown} does @param {Attributes} [attributes] */
export function button(label = "", does, attributes = {}) {
	let isBusy = false;
	return h("button", { type: "button", click, ...attributes }, label);

	async function click() {
		if (isBusy) return;
		isBusy = true;
		try {
			await does();
		} finally {
			isBusy = false;
		}
	}
}

/** @param {HTMLElement} control */
export const field = (label = "", control, note = "") =>
	h("label.field", h("span", label), control, note && h("small", note));

/** @param {readonly string[]} values @param {(value: string) => string} label what each is called @param {Attributes} [attributes] */
export const select = (values, label, attributes = {}) => h("select", attributes, values.map((value) => h("option", { value }, label(value))));

export const nameInput = (attributes = {}) => h("input", { maxlength: 24, autocomplete: "nickname", ...attributes });

/** A link to read, copy or share; browsers can share only from a page with TLS. @param {App} app */
export function makeLink(app, url = "", title = "", label = say("invitation link")) {
	const shown = h("input", { readonly: true, value: url, "aria-label": label, focus: () => shown.select() });
	// Closing the share sheet rejects the promise, which needs no message.
	const share = () => navigator.share({ title, url }).catch(() => undefined);
	return h("div.row", shown, button(sayTitle("type copy"), () => app.copy(url), { class: "primary" }), !!navigator.canShare?.({ url }) && button(sayTitle("key share"), share));
}

/** The browser's form of the page's language, as its dates differ: `en-GB` for `en`. */
export const localeOf = ({ lang } = document.documentElement) => navigator.languages.find((one) => one.startsWith(lang)) ?? lang;

/** @param {KeyboardEvent} event */
export function isForControl({ target, key, ctrlKey, metaKey, altKey }) {
	if (ctrlKey || metaKey || altKey || !(target instanceof Element)) return true;
	return target.matches("input, select") || ((key === "Enter" || key === " ") && target.matches("button, a"));
}

/** @param {...(Element | Element[])} content */
export function openDialog(title = "", ...content) {
	const close = button(say("page close"), () => dialog.close());
	const dialog = h("dialog", { "aria-label": title, close: () => dialog.remove() }, h("div.dialog-head", h("h2", title), close), ...content);
	document.body.append(dialog);
	dialog.showModal();
	return dialog;
}

/** @param {HTMLDialogElement} dialog */
export const closing = (dialog) => new Promise((resolve) => dialog.addEventListener("close", resolve));
