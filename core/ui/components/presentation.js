// Stories on a full screen, one place after the other. All of it comes with the page: presenting
// asks the server nothing.

const FORWARD = ["ArrowRight", "PageDown", " "];
const BACK = ["ArrowLeft", "PageUp"];
const EDGE = 4; // modules that a QR code needs to be light around it

function draw(root, { stories, address, here, code, words }) {
  const button = (name) => element("button", { type: "button" }, words[name]);
  const open = button("present");
  const previous = button("previous");
  const next = button("next");
  const leave = button("leave");
  const count = element("span", { class: "count" });
  const said = element("p", { class: "said", "aria-live": "polite" });
  const slides = element("div", { class: "slides" });
  const stage = element("div", { class: "stage", tabindex: -1 }, slides,
    element("nav", {}, leave, count, previous, next), said);
  const dialog = element("dialog", { "aria-label": words.presentation }, stage);
  root.append(open, dialog);

  const places = stories.flatMap((story) => {
    const show = storied(slides, story, words);
    return story.steps.map((_, at) => (animated) => show(at, animated));
  });
  if (address) places.push(invited(slides, address, here, code, words));

  const own = slides.querySelector(".own-question");
  let asks = false; // whether the visitor's own question comes next
  own?.addEventListener("click", () => {
    asks = true;
    dialog.close();
  });

  let now = 0;
  function go(to) {
    const before = slides.querySelector(".slide:not([hidden])");
    now = Math.min(Math.max(to, 0), places.length - 1);
    for (const slide of slides.children) slide.hidden = true;
    const { slide, text } = places[now](before !== null);
    slide.hidden = false;
    count.textContent = words.place.replace("{}", now + 1).replace("{}", places.length);
    previous.setAttribute("aria-disabled", now === 0);
    next.setAttribute("aria-disabled", now === places.length - 1);
    said.textContent = text;
  }
  previous.addEventListener("click", () => go(now - 1));
  next.addEventListener("click", () => go(now + 1));
  leave.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === " " && event.target.localName === "button") return; // it presses that button
    const first = own?.checkVisibility() ? own : leave;
    const edge = event.shiftKey ? first : next;
    if (event.key === "Tab" && event.target === edge) { // the next stop would be the browser's own
      event.preventDefault();
      (event.shiftKey ? next : first).focus();
    }
    const by = FORWARD.includes(event.key) - BACK.includes(event.key);
    if (!by) return;
    event.preventDefault();
    go(now + by);
    fill();
  });

  // A dialog has the screen and the focus to itself wherever a browser grants no full screen. What
  // leaves one leaves the other. A busy browser refuses what it grants at the next key.
  const full = () => document.fullscreenElement !== null;
  const fill = () => full() || stage.requestFullscreen?.().then(
    () => dialog.open || document.exitFullscreen(), () => {});
  open.addEventListener("click", () => {
    go(0);
    dialog.showModal();
    next.focus();
    fill();
  });
  stage.addEventListener("fullscreenchange", () => full() || dialog.close());
  dialog.addEventListener("close", async () => {
    for (const slide of slides.children) slide.hidden = true;
    said.textContent = "";
    if (full()) await document.exitFullscreen(); // until then, nothing outside can have the focus
    const field = asks && document.querySelector(`input[aria-label="${words.own_field}"]`);
    asks = false;
    (field || open).focus();
  });
}

/** Make the slide of a story; what is returned shows one of its places, and returns what is new. */
function storied(slides, story, words) {
  const { shown, show } = answers(story, words);
  const putIn = element("p", { class: "put-in" });
  const slide = element("section", { class: "slide" },
    element("h2", {}, story.question),
    shown,
    putIn,
    element("p", { class: "meaning" },
      element("strong", { class: `stamp ${story.stamp.style}` }, story.stamp.label), story.meaning),
  );
  slide.hidden = true;
  slides.append(slide);
  return (at, animated) => {
    const last = at === story.steps.length - 1;
    slide.classList.toggle("stamped", last);
    slide.classList.toggle("falls", last && animated);
    type(putIn, story.put_in[at], animated);
    const text = [at ? "" : story.question, story.put_in[at], show(at)];
    if (last) text.push(`${story.stamp.words}.`, story.meaning);
    return { slide, text: text.join(" ") };
  };
}

/** Make the slide that says where to open this page. */
function invited(slides, address, here, code, words) {
  const slide = element("section", { class: "slide invitation" },
    element("h2", {}, words.try), element("p", { class: "address" }, address));
  if (here) slide.append(element("p", {}, words.here));
  else slide.append(squares(code, words.code));
  slide.append(element("button", { type: "button", class: "own-question" }, words.own));
  slide.hidden = true;
  slides.append(slide);
  const text = [words.try, address, here ? words.here : ""].join(". ");
  return () => ({ slide, text });
}

/** Draw a QR code: a light square, and a rectangle for each run of dark modules in a row. */
function squares(rows, name) {
  const drawn = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const size = rows.length + 2 * EDGE;
  const svg = drawn("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": name });
  svg.append(drawn("rect", { width: size, height: size, class: "light" }));
  rows.forEach((row, y) => {
    for (const { 0: { length }, index } of row.matchAll(/1+/g)) {
      svg.append(drawn("rect", { x: index + EDGE, y: y + EDGE, width: length, height: 1 }));
    }
  });
  return svg;
}
