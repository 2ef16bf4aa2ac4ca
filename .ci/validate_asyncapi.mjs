// Validates an AsyncAPI document with the specification's own parser. Usage: node validate_asyncapi.mjs FILE
import { readFile } from "node:fs/promises";
import { DiagnosticSeverity, Parser } from "@asyncapi/parser";

const [file] = process.argv.slice(2);
const { document, diagnostics } = await new Parser().parse(await readFile(file, "utf8"));
for (const { severity, code, message, path } of diagnostics) {
  console.log(`${DiagnosticSeverity[severity].toLowerCase()}: ${message} (${code}, at ${path.join(".") || "the root"})`);
}
if (!document || diagnostics.some(({ severity }) => severity <= DiagnosticSeverity.Warning)) {
  process.exit(1);
}
console.log(`${file}: AsyncAPI ${document.version()}, ${document.messages().length} messages, ${document.operations().length} operations`);
