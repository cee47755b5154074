// What every component here is made of. Its own script follows, and defines `draw`.
// Every text is set as text, never as HTML. Where only `now` has changed, nothing is drawn anew:
// `root.follow` takes it up.

export default function ({ data: [content], parentElement, setTriggerValue, setStateValue }) {
  const root = parentElement.querySelector(".root");
  const { now, ...rest } = content;
  const shown = JSON.stringify(rest);
  if (root.shown === shown) return root.follow?.(now); // the page ran again, and little has changed
  root.shown = shown;
  root.replaceChildren();
  draw(root, content, setTriggerValue, setStateValue);
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
