/** Lists of elements by key: what stays in a list keeps its element, its place and the focus. */

/**
 * Make a parent's children those of a list, in its order; each is made once for its key, and drawn each time.
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
		element.setAttribute("data-key", key);
		if (parent.children[at] !== element) parent.insertBefore(element, parent.children[at] ?? null);
		draw?.(element, item);
	});
}
