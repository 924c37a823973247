// The landing page: a command that reviews the pasted properties, and a button that copies it.
(() => {
  const field = (id) => document.getElementById(id);
  const shown = document.querySelector(".command pre");
  const example = shown.innerHTML; // the command of the example, coloured

  function given(option, id) {
    const input = field(id);
    return input.value && input.checkValidity() ? ` ${option} ${input.value}` : "";
  }

  function update() {
    const text = field("configuration").value.trimEnd();
    if (!text) {
      shown.innerHTML = example;
      return;
    }
    let end = "END"; // of the here-document: no line of the text may be this word
    while (text.split("\n").includes(end)) end += "_";
    const options = given("--kafka", "release") + given("--brokers", "brokers");
    shown.textContent = `modelcheck kafka review -${options} <<'${end}'\n${text}\n${end}\n`;
  }

  async function copy() {
    const button = field("copy"), words = button.textContent;
    try {
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = words; }, 2000);
    } catch { // without the right to the clipboard, the reader copies the selection
      getSelection().selectAllChildren(shown);
    }
  }

  field("paste").addEventListener("input", update);
  field("paste").addEventListener("submit", (event) => event.preventDefault());
  field("copy").addEventListener("click", copy);
  update(); // a browser may have kept what was typed before
})();
