// A text as it was typed: behind each sentence its mark, which is also in the sentence's line.

function draw(root, { parts }, send) {
  const text = element("p", { class: "text" });
  for (const { text: words, number, kind, label } of parts) {
    if (kind === undefined) {
      text.append(words);
      continue;
    }
    const claim = element("span", { class: `claim ${kind}`, role: "button", tabindex: 0 },
      element("span", { class: "words" }, words), element("span", { class: "mark" }, ` ${label}`));
    const press = () => send("pressed", number);
    claim.addEventListener("click", press);
    claim.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press();
    });
    text.append(claim);
  }
  root.append(text);
}
