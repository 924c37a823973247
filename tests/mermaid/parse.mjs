// What Mermaid makes of diagrams: for each line of the input, a text as JSON, a line of what was read, or why not.
// MERMAID is the folder in which npm has installed what package.json lists.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = process.env.MERMAID;
const require = createRequire(pathToFileURL(`${folder}/package.json`));
const { JSDOM } = require("jsdom");
const { window } = new JSDOM();
globalThis.window = window;
globalThis.document = window.document;

const { default: mermaid } = await import(
  pathToFileURL(`${folder}/node_modules/mermaid/dist/mermaid.core.mjs`)
);
mermaid.initialize({ securityLevel: "strict", startOnLoad: false });

// Mermaid carries entities through its parser in a form of its own, until it has drawn; lines it breaks by a tag.
const plain = (text) =>
  (text ?? "").replaceAll("<br/>", "\n").replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)));

async function read(text) {
  try {
    await mermaid.parse(text);
    const { db, type } = await mermaid.mermaidAPI.getDiagramFromText(text);
    return {
      type,
      title: plain(db.getDiagramTitle()),
      accTitle: plain(db.getAccTitle()),
      accDescr: plain(db.getAccDescription()),
      actors: [...db.getActors()].map(([id, actor]) => [id, plain(actor.description)]),
      messages: db.getMessages().map(({ from, to, type, message, wrap }) => ({
        from: from ?? null,
        to: to ?? null,
        type,
        wrap: Boolean(wrap),
        text: typeof message === "string" ? plain(message) : "",
      })),
    };
  } catch (error) {
    return { error: String(error.message ?? error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await read(JSON.parse(line))));
}
