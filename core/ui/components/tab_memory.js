// The browser's tab remembers the name of the model in use, and longer texts that were typed: the server
// forgets them with the session, at a reload and when it is started again. A key is remembered nowhere.

export default function ({ data: [{ place, value, chosen, before }], setStateValue }) {
  const name = `believe_${place}`;
  let last = null;
  try {
    if (chosen) sessionStorage.setItem(name, value);
    else last = sessionStorage.getItem(name);
  } catch {
    // The browser lets pages keep nothing, as where all cookies are blocked.
  }
  if (last && last !== value && last !== before) setStateValue("before", last);
}
