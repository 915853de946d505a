// Looks at one page as it stands and says what is wrong with its layout, its targets, its labels, its states and its texts.
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

  // Text under something that paints: found by asking which element lies on top, screen by screen. Overlays are meant to cover.
  const overlay = "dialog, [role=dialog], [role=alertdialog], [aria-modal], [popover], [role=tooltip], [role=menu], [role=listbox]";
  const above = (element) => {
    const line = [];
    for (let one = element; one && one !== document.documentElement; one = one.parentElement) line.push(one);
    return line;
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const paints = (element) => {
    const style = getComputedStyle(element);
    const clear = /^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor) && style.backgroundImage === "none";
    return !clear || hasText(element) || /^(IMG|VIDEO|CANVAS|IFRAME|INPUT|SELECT|TEXTAREA|BUTTON)$/.test(element.tagName);
  };
  const floats = (element) => element.closest(overlay) || above(element).some((one) => /fixed|sticky/.test(getComputedStyle(one).position));
  const seen = (element) => above(element).every((one) => getComputedStyle(one).opacity !== "0") && getComputedStyle(element).pointerEvents !== "none";
  const inClip = (element, x, y) =>
    above(element).every((one) => {
      const box = one.getBoundingClientRect();
      return getComputedStyle(one).overflow === "visible" || (x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    });
  const linesOf = (element) =>
    [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim()).flatMap((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()];
    });
  const called = (element) => element.tagName.toLowerCase() + (element.id ? `#${element.id}` : "") + [...element.classList].map((name) => `.${name}`).join("");
  const coverOf = (element) => {
    for (const line of linesOf(element)) {
      const y = (line.top + line.bottom) / 2;
      if (y < 0 || y > innerHeight) continue;
      for (let x = line.left + 2; x < line.right - 1; x += 8) {
        const top = document.elementFromPoint(x, y);
        const related = !top || top.contains(element) || element.contains(top);
        if (!related && inClip(element, x, y) && paints(top) && !floats(top)) return top;
      }
    }
    return null;
  };
  const texts = every.filter((element) => hasText(element) && shown(element) && seen(element) && !floats(element)).slice(0, 600);
  const covered = new Set();
  for (let screen = 0; screen < 10 && screen * innerHeight < document.documentElement.scrollHeight; screen += 1) {
    scrollTo({ top: screen * innerHeight, behavior: "instant" });
    for (const element of texts) {
      const cover = covered.has(element) ? null : coverOf(element);
      if (cover) report("covered", `“${words(element).split("\n")[0]}” is covered by ${called(cover)}`, cover);
      if (cover) covered.add(element);
    }
  }
  scrollTo({ top: 0, behavior: "instant" });

  // A button that is painted has lost the browser's own looks for hover and press; the style sheets must give it others.
  const sheets = [];
  const gather = (rules, outer) => {
    for (const rule of rules) {
      const selector = rule.selectorText ? (outer ? rule.selectorText.replaceAll("&", `:is(${outer})`) : rule.selectorText) : outer;
      if (rule.selectorText) sheets.push({ selector, style: rule.style });
      if (rule.cssRules) gather(rule.cssRules, selector);
    }
  };
  for (const sheet of document.styleSheets) {
    try {
      gather(sheet.cssRules, "");
    } catch {
      continue; // a sheet of another origin cannot be read
    }
  }
  const fits = (element, selector) => {
    try {
      return element.matches(selector);
    } catch {
      return false;
    }
  };
  const painted = (style) => style.background || style.backgroundColor || style.backgroundImage || style.border || style.borderStyle || style.appearance || style.all;
  const state = /:(hover|active)\b/;
  const likeButton = (link) => {
    const style = getComputedStyle(link);
    const filled = !/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor) && style.backgroundColor !== getComputedStyle(link.parentElement).backgroundColor;
    return filled && /^inline-(block|flex)$/.test(style.display) && link.getBoundingClientRect().height <= 80;
  };
  const pressed = [...document.querySelectorAll("button, [role=button], input[type=submit], input[type=button]"), ...[...document.querySelectorAll("a[href]")].filter(likeButton)];
  for (const button of pressed) {
    const styled = painted(button.style) || sheets.some((rule) => !state.test(rule.selector) && painted(rule.style) && fits(button, rule.selector));
    const answers = sheets.some((rule) => state.test(rule.selector) && fits(button, rule.selector.replace(/:(hover|active|focus-visible|focus-within|focus)\b/g, "")));
    if (shown(button) && styled && !answers) report("states", "what is painted as a button looks the same under the pointer and when pressed; it has no :hover and no :active", button);
  }

  for (const element of every) {
    const style = getComputedStyle(element);
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (own && shown(element) && /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis" && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 2 && style.clipPath === "none") {
      report("clipped", "text is clipped", element);
    }
  }

  const viewport = document.querySelector("meta[name=viewport]");
  if (!viewport) report("viewport", "there is no viewport meta, so phones show the page small");
  else if (!/width\s*=\s*device-width/.test(viewport.content)) report("viewport", `the viewport is not as wide as the device (${viewport.content})`, viewport);
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

  const unwritten = /^(TODO|FIXME|TBD|TBC)\b(?! (list|app|items?)\b)/;
  for (const element of every.filter((one) => shown(one) && !one.closest("code, pre, script, style, template"))) {
    const hit = hasText(element) && element.innerText.trim().match(unwritten);
    if (hit && element.innerText.trim() !== "TODO") report("text", `a text for people is not written yet: ${hit[1]}`, element);
  }

  // What asks to be pressed and is no control, nor within or around one, is out of reach for a keyboard.
  const usable = "a[href], button, input, select, textarea, summary, label, option, area, video, audio, iframe, [role], [tabindex], [contenteditable]";
  const asks = (element) => element.onclick || (getComputedStyle(element).cursor === "pointer" && getComputedStyle(element.parentElement).cursor !== "pointer");
  for (const element of every) {
    if (shown(element) && asks(element) && !element.closest(usable) && !element.querySelector(usable)) report("mouse-only", "this can be pressed with a mouse only; make it a button or a link", element);
  }

  const vagueLink = /^(click( here| me)?|here|(a )?link|this( page| link)?|(read |learn |see )?more)[.!…]?$/i;
  const vagueButton = /^(submit|ok|okay|yes|no|click( here| me)?|press( here| me)?|button)[.!]?$/i;
  const named = (element) => (element.getAttribute("aria-label") || element.innerText || element.value || "").trim();
  for (const link of document.querySelectorAll("a[href]")) {
    if (shown(link) && vagueLink.test(named(link))) report("link-text", "a link does not say where it leads", link);
  }
  for (const button of document.querySelectorAll("button, [role=button], input[type=submit], input[type=button]")) {
    if (shown(button) && vagueButton.test(named(button)) && !button.closest(overlay)) report("button-text", "a button does not say what it does", button);
  }

  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    for (const motion of document.getAnimations()) {
      const endless = motion.playState === "running" && motion.effect && motion.effect.getComputedTiming().iterations === Infinity;
      if (endless) report("motion", `${motion.animationName || "an animation"} runs without end though less motion is asked for`, motion.effect.target);
    }
  }
  return found;
}
