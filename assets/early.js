/* Runs before the body is read. The first paint is of the verdict: what lies below it waits until that has been seen, and
 * for somebody whom the address leads further down nothing waits. Here and not in the style sheet alone: where a policy
 * forbids scripts, nothing is put off that no script would bring back. */
(root => {
	if (location.hash) return;
	root.classList.add('early');
	/* whatever becomes of the page's own script */
	addEventListener('load', () => setTimeout(() => root.classList.remove('early'), 1000));
})(document.documentElement);
