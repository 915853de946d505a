/* flyball: swaps what changed, counts down, answers keys, copies. Without it every page still shows the same. */
(function () {
  "use strict";
  var doc = document, body = doc.body, $ = function (id) { return doc.getElementById(id); };
  var all = function (query, root) { return Array.prototype.slice.call((root || doc).querySelectorAll(query)); };
  var lost = false, lastHeard = Date.now(), waiting = {}, retryAt = 0, source = null;
  var offset = Date.now() - Date.parse(body.dataset.now || new Date().toISOString());

  function pad(n) { return (n < 10 ? "0" : "") + n; }
  function utc() { return new Date(Date.now() - offset); }
  function span(s) {
    if (s < 60) return s + " s";
    if (s < 3600) return Math.floor(s / 60) + " min";
    if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";
    var d = Math.floor(s / 86400); return d + (d === 1 ? " day" : " days");
  }
  function took(s) { return s < 60 ? s + " s" : s < 3600 ? Math.floor(s / 60) + " min " + s % 60 + " s" : Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min"; }
  function tick() {
    var now = utc();
    if (!lost && body.hasAttribute("data-live") && $("clock"))
      $("clock").textContent = pad(now.getUTCHours()) + ":" + pad(now.getUTCMinutes()) + ":" + pad(now.getUTCSeconds()) + " UTC";
    all("time[data-until]").forEach(function (t) {
      var at = new Date(t.dataset.until), left = Math.max(0, Math.round((at - now) / 1000));
      t.textContent = lost ? pad(at.getUTCHours()) + ":" + pad(at.getUTCMinutes()) : left < 3600 ? Math.floor(left / 60) + ":" + pad(left % 60) : span(left);
    });
    if (!lost) all("time[data-took]").forEach(function (t) { t.textContent = took(Math.max(0, Math.round((now - new Date(t.dataset.took)) / 1000))); });
    if (!lost) all("time[data-since]").forEach(function (t) { t.textContent = span(Math.max(0, Math.round((now - new Date(t.dataset.since)) / 1000))); });
    if (!lost && body.hasAttribute("data-live") && Date.now() - lastHeard > 10000) lose();
    if (lost) { $("lost-in").textContent = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000)); if (Date.now() >= retryAt) connect(); }
  }

  /* A region is left alone while somebody reads or writes in it. */
  function busy(el) {
    if (el.contains(doc.activeElement) && doc.activeElement !== body) return true;
    var s = getSelection();
    if (s && !s.isCollapsed && s.anchorNode && el.contains(s.anchorNode)) return true;
    if (all("details[open][data-opened]", el).length) return true;
    if (all("textarea", el).some(function (t) { return t.value !== t.defaultValue; })) return true;
    return el.hasAttribute("data-list") && el.getBoundingClientRect().top < -40;
  }
  function swap(id, html) {
    if (id === "") { var title = doc.createElement("textarea"); title.innerHTML = html; if (doc.title !== title.value) { if (needs(title.value) > needs(doc.title)) speak(title.value); doc.title = title.value; icon(); } return; }
    var el = $(id);
    if (!el || el.dataset.html === html) return;
    if (busy(el)) { waiting[id] = html; pill(el, html); return; }
    delete waiting[id];
    if (el.hasAttribute("data-grows")) return grow(el, html);
    put(el, html);
  }
  function figure(d) { return d.querySelector("time") ? "" : d.textContent; }
  function put(el, html) {
    var before = all(".figure dd", el).map(figure);
    var state = el.querySelector("[data-state]"), was = state && state.dataset.state;
    el.innerHTML = html; el.dataset.html = html;
    all(".figure dd", el).forEach(function (d, n) { if (before[n] !== figure(d)) d.classList.add("fresh"); });
    state = el.querySelector("[data-state]");
    if (was && state && state.dataset.state !== was) speak(state.textContent + ": " + state.dataset.state.toLowerCase());
    ready(el);
  }
  function grow(el, html) {
    var atEnd = innerHeight + scrollY > doc.documentElement.scrollHeight - 80, y = scrollY;
    var open = all("details[open]", el).map(function (d) { return d.id; });
    put(el, html);
    open.forEach(function (id) { if ($(id)) $(id).open = true; });
    if (atEnd) scrollTo(0, doc.documentElement.scrollHeight);
    else { scrollTo(0, y); if ($("grown")) $("grown").hidden = false; }
  }
  function pill(el, html) {
    var p = el.querySelector("#new-rows"), fresh = (html.match(/id="iteration-\d+"/g) || []).filter(function (id) { return !$(id.slice(4, -1)); });
    if (p && fresh.length) p.textContent = fresh.length + " new";
  }
  function settle() { Object.keys(waiting).forEach(function (id) { var el = $(id); if (el && !busy(el)) swap(id, waiting[id]); }); }
  function speak(text) { if ($("speaker")) $("speaker").textContent = text; }
  function needs(title) { var n = /^\((\d+)\)/.exec(title); return n ? Number(n[1]) : 0; }
  function icon() { var l = doc.querySelector("link[rel=icon]"); if (l) l.href = "/static/" + (needs(doc.title) ? "icon-needs.svg" : "icon.svg"); }

  function lose() {
    if (!lost) {
      lost = true;
      var seen = new Date(lastHeard - offset);
      $("lost-at").textContent = pad(seen.getUTCHours()) + ":" + pad(seen.getUTCMinutes()) + ":" + pad(seen.getUTCSeconds());
      $("lost").hidden = false; $("live").classList.add("lost"); $("live-word").textContent = "Lost contact";
    }
    retryAt = Date.now() + 4000;
    if (source) { source.close(); source = null; }
  }
  function heard() {
    lastHeard = Date.now(); $("live-word").textContent = "Live";
    if (lost) { lost = false; $("lost").hidden = true; $("live").classList.remove("lost"); }
  }
  function connect() {
    if (source) source.close();
    retryAt = Date.now() + 4000;
    source = new EventSource("/live?path=" + encodeURIComponent(body.dataset.path));
    ["all", "change"].forEach(function (kind) {
      source.addEventListener(kind, function (e) {
        heard(); var parts = JSON.parse(e.data);
        Object.keys(parts).forEach(function (id) {
          if (kind === "all" && id && $(id) && plainer($(id).innerHTML) === plainer(parts[id])) { $(id).dataset.html = parts[id]; return; }
          swap(id, parts[id]);
        });
      });
    });
    source.addEventListener("beat", heard);
    source.onopen = heard;
    source.onerror = lose;
  }
  function plainer(html) { var d = doc.createElement("div"); d.innerHTML = html; all("time", d).forEach(function (t) { t.textContent = ""; }); return d.innerHTML.replace(/<!--.*?-->/g, "").replace(/ (hidden|data-opened|open|class)="[^"]*"/g, "").trim(); }

  function ready(root) {
    all("time[datetime]", root).forEach(function (t) { t.title = new Date(t.dateTime).toLocaleString() + ", your time"; });
    all("[data-copy]", root).forEach(function (b) {
      b.hidden = false;
      b.onclick = function () { navigator.clipboard.writeText(b.parentNode.querySelector("code").textContent).then(function () { b.textContent = "Copied"; }); };
    });
    all("details", root).forEach(function (d) { d.addEventListener("toggle", function () { if (d.open) d.dataset.opened = ""; else { delete d.dataset.opened; settle(); } }); });
  }

  /* keys */
  var row = -1, before = "", rowQuery = "[data-row],tr[data-line]";
  function keysOff() { try { return localStorage.getItem("keys") === "off"; } catch (e) { return false; } }
  function follow(key) { var a = doc.querySelector('[data-key="' + key + '"]'); if (a) a.click(); }
  function move(by) {
    var rows = all(rowQuery).filter(function (r) { return r.offsetParent; });
    if (!rows.length) return;
    var here = doc.activeElement && doc.activeElement.closest(rowQuery);
    row = Math.max(0, Math.min(rows.length - 1, (here ? rows.indexOf(here) : row) + by));
    var to = rows[row], link = to.matches("summary") ? to : to.querySelector("[data-open]") || to.querySelector("button") || to.querySelector("a");
    if (!link && to.cells) { link = to.cells[0]; link.tabIndex = -1; }
    if (link) link.focus();
  }
  doc.addEventListener("keydown", function (e) {
    var t = e.target, form = t.closest && t.closest("form[data-send]");
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && form) { form.requestSubmit(); return; }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)) { if (e.key === "Escape") t.blur(); return; }
    if (e.ctrlKey || e.metaKey || e.altKey || keysOff()) { if (!(e.key === "?" && keysOff())) return; }
    var key = e.key;
    if (before === "g" && key === "h") { location.href = "/"; return; }
    before = key;
    if (key === "?") $("help").showModal();
    else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "n") { var need = doc.querySelector("[data-needs] a"); if (need) need.focus(); else location.href = "/"; }
    else if (key === "t") $("theme").click();
    else if (key === "u") { if ($("unfold")) $("unfold").click(); else all("main details").forEach(function (d) { d.open = true; }); }
    else if (key === "c" && $("comments")) { var tr = doc.querySelector("tr[data-line]:hover") || (t.closest && t.closest("tr[data-line]")) || doc.querySelector("tr.add[data-line]"); if (tr) { e.preventDefault(); comment(tr); } }
    else if ("adrw[]".indexOf(key) >= 0) follow(key);
    else return;
    if (key !== "c") e.preventDefault();
  });

  /* comments: kept in the form, and in this tab until they are sent */
  var store = "comments:" + body.dataset.path, form = $("comments");
  function comment(tr, text) {
    var next = tr.nextElementSibling;
    if (next && next.classList.contains("draft")) { next.querySelector("textarea").focus(); return; }
    var file = tr.closest("details"), note = doc.createElement("tr"), cell = doc.createElement("td"), box = doc.createElement("div");
    note.className = "note-row draft"; cell.colSpan = tr.cells.length; box.className = "remark mine";
    var by = doc.createElement("p"); by.className = "by"; by.textContent = "you, on line " + tr.dataset.line + ", not sent yet";
    var area = doc.createElement("textarea"); area.name = "comment"; area.value = text || ""; area.setAttribute("aria-label", "Comment on line " + tr.dataset.line);
    var drop = doc.createElement("button"); drop.type = "button"; drop.className = "button plain"; drop.textContent = "Remove";
    drop.onclick = function () { note.remove(); count(); };
    area.oninput = count;
    box.append(by, area, hidden("path", file.dataset.path), hidden("line", tr.dataset.line), drop);
    cell.append(box); note.append(cell); tr.after(note);
    if (text === undefined) area.focus();
    count();
  }
  function hidden(name, value) { var i = doc.createElement("input"); i.type = "hidden"; i.name = name; i.value = value; return i; }
  function count() {
    var areas = all("textarea[name=comment]", form).filter(function (a) { return a.value.trim(); });
    var kept = areas.map(function (a) { var b = a.parentNode; return [b.querySelector("[name=path]").value, b.querySelector("[name=line]").value, a.value]; });
    try { sessionStorage.setItem(store, JSON.stringify(kept)); } catch (e) { /* a tab without storage */ }
    if ($("send-bar")) $("send-bar").toggleAttribute("data-empty", !areas.length);
    if ($("send-count")) $("send-count").textContent = areas.length ? areas.length + (areas.length === 1 ? " comment becomes guidance" : " comments become guidance") : "Comments become guidance";
  }
  /* One line of a file is in the way of Tab; j and k lead to the others. */
  function commentable() {
    all("details.file", form).forEach(function (file) {
      all("tr[data-line]", file).forEach(function (tr, n) {
        var cell = tr.querySelector("td.m"), sign = cell.textContent.trim(), b = doc.createElement("button");
        b.type = "button"; b.dataset.comment = ""; b.textContent = sign || "·"; b.tabIndex = n ? -1 : 0;
        b.setAttribute("aria-label", "Comment on line " + tr.dataset.line); b.title = "Comment (c)";
        cell.textContent = ""; cell.append(b);
        all("td.g a", tr).forEach(function (a) { a.tabIndex = -1; });
      });
    });
    form.addEventListener("focusin", function (e) {
      if (!e.target.matches("[data-comment]")) return;
      all('[data-comment][tabindex="0"]', e.target.closest("details")).forEach(function (b) { b.tabIndex = -1; });
      e.target.tabIndex = 0;
    });
  }
  if (form) {
    commentable();
    form.addEventListener("click", function (e) {
      var touched = matchMedia("(pointer:coarse)").matches && getSelection().isCollapsed ? "tr[data-line]" : "[data-comment],td.g a";
      var hit = e.target.closest(touched);
      if (hit) { e.preventDefault(); comment(hit.closest("tr")); }
    });
    form.addEventListener("submit", function () { if (!/preview$/.test((doc.activeElement && doc.activeElement.formAction) || "")) try { sessionStorage.removeItem(store); } catch (e) { /* none */ } });
    try {
      (JSON.parse(sessionStorage.getItem(store)) || []).forEach(function (c) {
        all("details.file").forEach(function (f) { if (f.dataset.path === c[0]) { var tr = f.querySelector('tr[data-line="' + Number(c[1]) + '"]'); if (tr) comment(tr, c[2]); } });
      });
    } catch (e) { /* nothing was kept */ }
  }

  /* the answer's button names the answer */
  var answer = $("answer-form");
  if (answer) {
    var name = function () { var c = answer.querySelector("input[name=answer]:checked"); $("answer-button").textContent = c ? "Answer " + c.dataset.label : "Answer"; };
    answer.addEventListener("change", name);
    var area = answer.querySelector("textarea");
    if (area) area.addEventListener("input", function () { var free = answer.querySelector("[data-free]"); if (free && area.value) { free.checked = true; name(); } });
    name();
  }

  if ($("help-button")) $("help-button").hidden = false;
  if ($("help-button")) $("help-button").onclick = function () { $("help").showModal(); };
  $("help-close").onclick = function () { $("help").close(); };
  $("keys-off").checked = keysOff();
  $("keys-off").onchange = function () { try { localStorage.setItem("keys", this.checked ? "off" : "on"); } catch (e) { /* none */ } };
  $("try-now").onclick = connect;
  if ($("unfold")) { $("unfold").hidden = false; $("unfold").onclick = function () { all("main details").forEach(function (d) { d.open = true; }); }; }
  if ($("grown")) $("grown").onclick = function () { this.hidden = true; scrollTo(0, doc.documentElement.scrollHeight); };
  doc.addEventListener("focusout", function () { setTimeout(settle, 50); });
  doc.addEventListener("selectionchange", function () { setTimeout(settle, 200); });
  addEventListener("scroll", function () { setTimeout(settle, 200); }, { passive: true });
  ready(doc);
  if (body.hasAttribute("data-live")) connect();
  setInterval(tick, 1000);
  addEventListener("pagehide", function () { if (source) source.close(); });
})();
