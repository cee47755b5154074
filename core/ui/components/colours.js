// Streamlit tells the server of another theme, by its menu or by the system, with the next run only.

const APP = '[data-testid="stApp"]';
const scheme = () => getComputedStyle(document.querySelector(APP)).colorScheme;
let last = scheme();
let send;

export default function ({ setTriggerValue }) {
  send = setTriggerValue; // of the newest run
  if (document.documentElement.dataset.believeColours) return;
  document.documentElement.dataset.believeColours = "followed";
  new MutationObserver(() => {
    if (scheme() === last) return;
    last = scheme();
    send("changed", last);
  }).observe(document.querySelector(APP), { attributeFilter: ["class"] });
}
