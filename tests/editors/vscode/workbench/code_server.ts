/** The real workbench: a code-server of this test's own, with the extension installed from its .vsix. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export const REPOSITORY = process.env["REPOSITORY"]!;
export const PYTHON = process.env["PYTHON"]!;
const CACHE = join(REPOSITORY, ".cache/vscode");
const NODE = join(CACHE, "node/node_modules/node/bin/node");
const CODE_SERVER = join(CACHE, "code-server/node_modules/code-server");
const PATIENCE_MS = 90_000;

/** What would move or pop up by itself is switched off; nothing of it concerns the extension. */
const CALM = {
  "chat.disableAIFeatures": true,
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "editor.suggestOnTriggerCharacters": false,
  "editor.wordBasedSuggestions": "off",
  "editor.minimap.enabled": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "git.enabled": false,
  "notebook.showGlobalToolbar": false,
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.banner": "never",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.customMenuBarAltFocus": false,
  "window.menuBarVisibility": "compact",
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

export interface Wish {
  readonly settings: Record<string, unknown>;
  readonly isTrusted?: boolean;
  /** PATH of the workbench; default: as it is. */
  readonly searchPath?: string;
}

export interface Said {
  readonly after: string;
  readonly texts?: readonly string[];
  readonly error?: string;
  readonly hold?: string;
  /** The step whose draft is told before it is held. */
  readonly step?: number;
}

interface Event {
  readonly event: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly preset: string;
}

/** A folder of a test: the workspace, the scripted engine's answers and log, the workbench's own data. */
export class Place {
  readonly root = mkdtempSync(join(tmpdir(), "midfill-vs-"));
  readonly workspace = join(this.root, "workspace");

  constructor() {
    for (const name of ["workspace", "user/User", "user/Machine", "extensions", "home", "run"]) {
      mkdirSync(join(this.root, name), { recursive: true, mode: 0o700 });
    }
    this.say([]);
  }

  at(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.workspace, name)), { recursive: true });
    writeFileSync(join(this.workspace, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.workspace, name), "utf8");
  }

  /** The command of the real server around a scripted engine. */
  get scripted(): string[] {
    return [PYTHON, join(REPOSITORY, "tests/editors/vscode/scripted_server.py"), this.at("answers.json"), this.at("log.jsonl")];
  }

  say(answers: readonly Said[]): void {
    writeFileSync(this.at("answers.json"), JSON.stringify(answers));
  }

  /** From now on the model is being loaded, or has been. */
  load(isLoading: boolean): void {
    const mark = this.at("answers.json.loading");
    isLoading ? writeFileSync(mark, "") : rmSync(mark);
  }

  events(kind: string): Event[] {
    const log = existsSync(this.at("log.jsonl")) ? readFileSync(this.at("log.jsonl"), "utf8") : "";
    return log.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Event).filter(({ event }) => event === kind);
  }

  /** The last things that the engine was asked and that the extension logged, for who looks into a failure. */
  tail(): string {
    const logs = readdirSync(this.at("user/logs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("midfill.log"));
    const files = [this.at("log.jsonl"), ...logs.map((name) => this.at(join("user/logs", name)))].filter(existsSync);
    return files.map((file) => readFileSync(file, "utf8").split("\n").slice(-12).join("\n")).join("\n");
  }

  /** KEEP=1: leave it for who looks into a failure. */
  remove(): void {
    if (process.env["KEEP"]) {
      console.error(this.root);
      return;
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class CodeServer {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
    private readonly output: () => string,
  ) {}

  static async start(place: Place, { settings, isTrusted = true, searchPath }: Wish): Promise<CodeServer> {
    // What belongs to a machine is read from its own file, since the window is taken to be on another machine.
    writeFileSync(place.at("user/User/settings.json"), JSON.stringify(CALM));
    writeFileSync(place.at("user/Machine/settings.json"), JSON.stringify(settings));
    const folders = ["--user-data-dir", place.at("user"), "--extensions-dir", place.at("extensions")];
    const entry = join(CODE_SERVER, "out/node/entry.js");
    const env = environment(place, searchPath);
    const vsix = join(REPOSITORY, "editors/vscode/midfill.vsix");
    await promisify(execFile)(NODE, [entry, ...folders, "--install-extension", vsix], { env, timeout: PATIENCE_MS });
    const port = await freePort();
    const calm = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
    const trust = isTrusted ? ["--disable-workspace-trust"] : [];
    const where = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--config", place.at("config.yaml")];
    writeFileSync(place.at("config.yaml"), "");
    const child = spawn(NODE, [entry, ...where, ...calm, ...trust, ...folders, place.workspace], { env, stdio: "pipe", detached: true });
    let output = "";
    child.stdout.on("data", (data: Buffer) => (output += data.toString()));
    child.stderr.on("data", (data: Buffer) => (output += data.toString()));
    const server = new CodeServer(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(place.workspace)}`, child, () => output);
    await server.listening(port);
    return server;
  }

  /** Ends it with all that it started. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    process.kill(-this.process.pid!, "SIGTERM");
    const late = setTimeout(() => process.kill(-this.process.pid!, "SIGKILL"), 5_000);
    await ended;
    clearTimeout(late);
  }

  private async listening(port: number): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (Date.now() < deadline) {
      try {
        await fetch(`http://127.0.0.1:${port}/healthz`);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    throw new Error(`code-server did not come up:\n${this.output()}`);
  }
}

/** A home and a runtime directory of the test's own: no engine of the user is found or left behind. */
function environment(place: Place, searchPath: string | undefined): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: place.at("home"),
    XDG_RUNTIME_DIR: place.at("run"),
    XDG_CONFIG_HOME: place.at("home"),
    XDG_CACHE_HOME: place.at("home"),
    XDG_DATA_HOME: place.at("home"),
    PATH: searchPath ?? process.env["PATH"],
    OMP_WAIT_POLICY: "passive",
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
