// Starts `modelcheck serve lsp`, and shows what its commands return: stories as text, pages in a view.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function show(command, [, check], answer) {
  if (command === "modelcheck.story" && answer) {
    const document = await vscode.workspace.openTextDocument({ content: answer });
    await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
  } else if (command === "modelcheck.page" && answer) {
    const options = { enableScripts: true };
    vscode.window.createWebviewPanel("modelcheck", check, vscode.ViewColumn.Beside, options).webview.html = answer;
  }
  return answer;
}

exports.activate = () => {
  const [command, ...args] = vscode.workspace.getConfiguration("modelcheck").get("command");
  client = new LanguageClient("modelcheck", { command, args }, {
    documentSelector: [{ language: "rsm" }],
    middleware: {
      executeCommand: async (name, given, next) => show(name, given, await next(name, given)),
    },
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
