// Prints "read" for each trace named on the command line that Quint's own reader of ITF takes.
// QUINT is the folder in which npm has installed what package.json lists.
const fs = require("fs")
const path = require("path")
const home = path.join(process.env.QUINT, "node_modules", "@informalsystems", "quint", "dist", "src")
const { ofItf } = require(path.join(home, "itf.js"))
for (const name of process.argv.slice(2)) {
  const states = ofItf(JSON.parse(fs.readFileSync(name, "utf8")))
  console.log(states.length > 0 ? "read" : "empty")
}
