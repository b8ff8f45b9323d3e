// Makes midfill.vsix of what has been built. The licence is the project's own.
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
copyFileSync(join(root, "../../LICENSE"), join(root, "LICENSE"));
const vsce = join(root, "node_modules/@vscode/vsce/vsce");
execFileSync(
  process.execPath,
  [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--out", join(root, "midfill.vsix")],
  { cwd: root, stdio: ["ignore", "ignore", "inherit"] },
);
