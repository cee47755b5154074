// Completes a question from those that the model was taught, while a person types and with no run of
// the page. The field stays Streamlit's: a choice is typed into it, and Enter asks as always.

const MOST = 8; // suggestions at a time
const FEWEST_LETTERS = 2;
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// Of the window, since Streamlit may load this script, and draw the field, more than once.
const now = (window.believeSuggestions ??= { label: "", questions: [], folded: [] });
const isOurs = (field) => field?.tagName === "INPUT" && field.getAttribute("aria-label") === now.label;

function matches(typed) {
  const text = plain(typed).trim();
  const words = text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (text.length < FEWEST_LETTERS || !words.length) return [];
  const places = [];
  for (let n = 0; n < now.folded.length; n++) {
    if (now.folded[n] === text) return []; // it is there already
    if (words.every((word) => now.folded[n].includes(word))) places.push(n);
  }
  const begins = (question) => words.every((word) => ` ${question}`.includes(` ${word}`));
  const rank = (n) => {
    const question = now.folded[n];
    return (question.startsWith(text) ? 0 : begins(question) ? 1000 : 2000) + question.length;
  };
  return places.sort((a, b) => rank(a) - rank(b)).slice(0, MOST).map((n) => now.questions[n]);
}

function listOf(field) {
  let list = document.getElementById("believe-suggestions");
  if (!list) {
    list = document.createElement("ul");
    list.id = "believe-suggestions";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Questions that the model was taught");
    list.hidden = true;
    document.body.append(list);
  }
  if (list.hidden) return list;
  const box = field.getBoundingClientRect();
  list.style.left = `${box.left + scrollX}px`;
  list.style.top = `${box.bottom + scrollY + 6}px`;
  list.style.width = `${box.width}px`;
  return list;
}

function close(field) {
  listOf(field).hidden = true;
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
}

function open(field) {
  const texts = matches(field.value);
  if (!texts.length || document.activeElement !== field) return close(field);
  listOf(field).hidden = false;
  const list = listOf(field);
  list.replaceChildren(...texts.map((text, n) => {
    const option = document.createElement("li");
    option.id = `believe-suggestion-${n}`;
    option.setAttribute("role", "option");
    option.textContent = text;
    option.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the field keeps the focus
      choose(field, text);
    });
    return option;
  }));
  field.setAttribute("aria-expanded", "true");
  field.removeAttribute("aria-activedescendant");
}

function choose(field, text) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  close(field);
  const press = { key: "Enter", code: "Enter", bubbles: true, cancelable: true };
  // After the field has taken the text up.
  setTimeout(() => ["keydown", "keypress"].forEach((kind) => field.dispatchEvent(new KeyboardEvent(kind, press))));
}

function move(field, by) {
  const options = [...listOf(field).children];
  const active = field.getAttribute("aria-activedescendant");
  const at = options.findIndex((option) => option.id === active);
  const next = options[(at + by + options.length + (at < 0 && by < 0 ? 1 : 0)) % options.length];
  options.forEach((option) => option.setAttribute("aria-selected", String(option === next)));
  next.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", next.id);
}

function press(event) {
  const field = event.target;
  if (!event.isTrusted || !isOurs(field) || listOf(field).hidden) return;
  const active = document.getElementById(field.getAttribute("aria-activedescendant") ?? "");
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(field, event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape") {
    event.stopPropagation();
    close(field);
  } else if (event.key === "Enter" && active) {
    event.preventDefault();
    event.stopPropagation();
    choose(field, active.textContent);
  } else if (event.key === "Enter" || event.key === "Tab") {
    close(field);
  }
}

function describe(field) {
  if (field.getAttribute("role") === "combobox") return;
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", "believe-suggestions");
  field.autocomplete = "off";
  close(field);
}

function listen(kind, act) {
  document.addEventListener(kind, (event) => isOurs(event.target) && act(event.target, event), true);
}

if (!now.listens) {
  now.listens = true;
  listen("focusin", describe);
  listen("input", (field, event) => event.isTrusted && (describe(field), open(field)));
  listen("focusout", close);
  document.addEventListener("keydown", press, true);
}

export default function ({ data: [{ field, texts }] }) {
  Object.assign(now, { label: field, questions: texts, folded: texts.map(plain) });
  [...document.querySelectorAll("input")].filter(isOurs).forEach(describe);
  return () => { // another page has a field of this label, too
    for (const input of [...document.querySelectorAll("input")].filter(isOurs)) {
      close(input);
      ["role", "aria-autocomplete", "aria-controls", "aria-expanded"].forEach((name) => input.removeAttribute(name));
    }
    Object.assign(now, { label: "", questions: [], folded: [] });
  };
}
