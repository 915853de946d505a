// Looks at one page as it stands and says what is wrong with its layout, its targets, its labels and its texts.
() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  const opening = (element) => element.outerHTML.slice(0, 200).split(">")[0] + ">";
  const words = (element) => (element.innerText || element.value || "").trim().slice(0, 60);
  const report = (rule, message, element) =>
    found.push({ rule, message, html: element ? opening(element) : "", text: element ? words(element) : "" });
  const shown = (element) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    return style.visibility !== "hidden" && style.display !== "none" && box.width > 1 && box.height > 1 && box.bottom > 0 && box.right > 0;
  };
  const scrolls = (element) => {
    for (let above = element.parentElement; above && above !== document.body; above = above.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(above).overflowX)) return true;
    }
    return false;
  };
  const every = [...document.body.querySelectorAll("*")];

  if (document.documentElement.scrollWidth > width + 1) {
    const wide = every.filter((e) => shown(e) && e.getBoundingClientRect().right > width + 1 && !scrolls(e));
    const inner = wide.filter((e) => !wide.some((other) => other !== e && e.contains(other)));
    report("overflow", "the page is wider than the screen", inner[0] || document.body);
  }

  const controls = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], [role=checkbox], [role=tab]")].filter(
    (e) => shown(e) && !e.disabled && e.getAttribute("aria-disabled") !== "true",
  );
  const area = (element) => {
    const box = element.getBoundingClientRect();
    const label = element.labels && element.labels[0] && /checkbox|radio/.test(element.type) ? element.labels[0].getBoundingClientRect() : box;
    return { width: Math.max(box.width, label.width), height: Math.max(box.height, label.height) };
  };
  const inSentence = (element) =>
    element.tagName === "A" && getComputedStyle(element).display === "inline" && [...element.parentElement.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  for (const control of controls) {
    const size = area(control);
    if ((size.width < 43.5 || size.height < 43.5) && !inSentence(control)) {
      report("target", `a touch target is smaller than 44 px (${Math.round(size.width)} × ${Math.round(size.height)})`, control);
    }
  }

  controls.forEach((one, index) => {
    for (const other of controls.slice(index + 1)) {
      if (one.contains(other) || other.contains(one)) continue;
      const a = one.getBoundingClientRect();
      const b = other.getBoundingClientRect();
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 3 && down > 3) report("overlap", `two controls lie on top of each other: ${words(one)} / ${words(other)}`, other);
    }
  });

  for (const element of every) {
    const style = getComputedStyle(element);
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (own && shown(element) && /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis" && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 2 && style.clipPath === "none") {
      report("clipped", "text is clipped", element);
    }
  }

  if (!document.querySelector("meta[name=viewport]")) report("viewport", "there is no viewport meta, so phones show the page small");
  if (!document.title.trim()) report("title", "the page has no title");
  const main = document.querySelectorAll("h1").length;
  if (main !== 1) report("h1", `the page has ${main} h1 headings; one is wanted`, document.querySelectorAll("h1")[1]);
  if (!document.querySelector("main, [role=main]")) report("main", "the page has no main landmark");

  for (const field of document.querySelectorAll("input:not([type=hidden]):not([type=submit]):not([type=button]):not([type=image]), select, textarea")) {
    const named = (field.labels && field.labels.length) || field.getAttribute("aria-label") || field.getAttribute("aria-labelledby") || field.title;
    if (shown(field) && !named) report("label", "a field has no label; a placeholder is none", field);
  }

  const jargon = /\bundefined\b|\bNaN\b|\[object Object\]|\blorem ipsum\b|\bHTTP \d{3}\b|\bstack ?trace\b|\b\w*Exception\b|^null$|: null\b|\{"\w+":/i;
  for (const element of every) {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent).join(" ").trim();
    const hit = /^(SCRIPT|STYLE|NOSCRIPT|CODE|PRE|TEMPLATE)$/.test(element.tagName) || !shown(element) ? null : own.match(jargon);
    if (hit) report("text", `a text for people holds ${hit[0].toLowerCase()}`, element);
  }

  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    for (const motion of document.getAnimations()) {
      const endless = motion.playState === "running" && motion.effect && motion.effect.getComputedTiming().iterations === Infinity;
      if (endless) report("motion", `${motion.animationName || "an animation"} runs without end though less motion is asked for`, motion.effect.target);
    }
  }
  return found;
}
