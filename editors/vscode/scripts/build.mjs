// Bundles the extension (`build.mjs extension`), or a folder of tests (`build.mjs FOLDER OUT`).
import { build } from "esbuild";
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [what, out] = process.argv.slice(2);
const shared = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  logLevel: "warning",
  nodePaths: [join(root, "node_modules")],
};

if (what === "extension") {
  await build({
    ...shared,
    entryPoints: [join(root, "src/extension.ts")],
    outfile: join(root, "dist/extension.js"),
    external: ["vscode"],
    minify: true,
  });
} else {
  const folder = resolve(what);
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...shared,
    entryPoints: tests.map((name) => join(folder, name)),
    outdir: resolve(out),
    external: ["playwright-core"],
    sourcemap: "inline",
  });
}
