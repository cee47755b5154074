// Says that the server cannot be reached, in a place that screen readers read aloud. While the server
// is away only the browser can, and Streamlit's own dialog tells people to start “yourscript.py”.

const STATE = "data-test-connection-state";
const LOST = ["CONNECTING", "PINGING_SERVER"];
const PATIENCE = 1500; // milliseconds: a short break is no matter
const WORDS =
  "The server cannot be reached. This page goes on by itself once it can. Answers received are saved. If Believe runs on this computer, start it again.";

export default function () {
  if (document.querySelector(".believe-unreachable")) return; // the page ran again
  const said = document.createElement("div");
  said.className = "believe-unreachable";
  said.setAttribute("role", "alert"); // there before its words: what comes into it is read aloud
  document.body.append(said);
  let soon;
  new MutationObserver(() => {
    if (LOST.includes(document.querySelector(`[${STATE}]`)?.getAttribute(STATE))) {
      soon ??= setTimeout(() => { said.textContent = WORDS; }, PATIENCE);
    } else {
      clearTimeout(soon);
      soon = undefined;
      said.textContent = "";
    }
  }).observe(document.body, { subtree: true, attributeFilter: [STATE] });
}
