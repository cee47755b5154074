// One entry of the browser's history for each question asked, and one for each page opened.
//
// By itself, Streamlit replaces the entry when a person types a question, makes several entries when
// a page is left or its settings come back, and one for each setting that the server changes.

const ASKED = ["q", "query", "own", "saved", "tab", "experiment"]; // names in the address that say what is on the screen

export default function () {
  if (history.pushState.one_each) return; // the page ran again
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let acted = false; // has the person done anything since the newest entry was made?

  function write(state, title, address) {
    const now = new URL(location.href);
    const next = new URL(address ?? now.href, now);
    if (place(now) === place(next) || !acted) {
      replace(state, title, address);
    } else {
      acted = false; // whatever else comes of the same act belongs to this entry
      push(state, title, address);
    }
  }

  write.one_each = true;
  history.pushState = write;
  history.replaceState = write;
  for (const act of ["pointerdown", "keydown"]) addEventListener(act, () => { acted = true; }, true);
  addEventListener("click", ({ detail }) => { acted ||= !detail; }, true); // without a pointer
  addEventListener("popstate", () => { acted = false; }, true);
}

function place({ pathname, searchParams }) {
  return JSON.stringify([pathname, ASKED.map((name) => searchParams.get(name))]);
}
