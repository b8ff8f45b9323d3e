/** The protocol as VS Code speaks it, in plain node, with a real server process on the other end. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ConfigurationRequest,
  createMessageConnection,
  DidChangeConfigurationNotification,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  InitializedNotification,
  InitializeRequest,
  InlineCompletionRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type CancellationToken,
  type InitializeResult,
  type InlineCompletionList,
  type MessageConnection,
} from "vscode-languageserver-protocol/node";
import { optedIn } from "../../../../editors/vscode/src/opting_in";

const PATIENCE_MS = 20_000;

export interface Said {
  readonly after: string;
  readonly texts?: readonly string[];
  readonly error?: string;
  readonly hold?: string;
}

/** Waits until something is so; fails loudly if it does not come. */
export async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) {
      return seen;
    }
    if (Date.now() > deadline) {
      throw new Error(`waited in vain for: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export class Client {
  readonly statuses: { kind: string; message: string; busy: boolean }[] = [];
  readonly drafts: unknown[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), "midfill-protocol-"));
  readonly connection: MessageConnection;
  readonly stderr: string[] = [];
  configuration: unknown = {};
  numPulls = 0;
  initialized!: InitializeResult;
  private readonly process: ChildProcess;
  private readonly exited: Promise<number | null>;
  private version = 1;

  private constructor(answers: readonly Said[]) {
    this.say(answers);
    const script = join(process.env["REPOSITORY"]!, "tests/editors/vscode/scripted_server.py");
    this.process = spawn(process.env["PYTHON"]!, [script, this.at("answers.json"), this.at("log.jsonl")], { stdio: "pipe" });
    this.exited = new Promise((resolve) => this.process.once("exit", (code) => resolve(code)));
    this.process.stderr!.on("data", (data: Buffer) => this.stderr.push(data.toString()));
    this.connection = createMessageConnection(
      new StreamMessageReader(this.process.stdout!),
      new StreamMessageWriter(this.process.stdin!),
    );
    this.connection.onNotification("didChangeStatus", (status) => void this.statuses.push(status));
    this.connection.onNotification("midfill/draft", (draft) => void this.drafts.push(draft));
    this.connection.onRequest(ConfigurationRequest.type, ({ items }) => {
      this.numPulls += 1;
      return items.map(() => this.configuration as null);
    });
    this.connection.listen();
  }

  static async start(answers: readonly Said[], configuration: unknown = {}, initial: unknown = {}): Promise<Client> {
    const client = new Client(answers);
    client.configuration = configuration;
    client.initialized = await client.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      clientInfo: { name: "Visual Studio Code", version: "1.139.1" },
      rootUri: null,
      initializationOptions: initial,
      capabilities: optedIn({
        general: { positionEncodings: ["utf-16"] },
        workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } },
        textDocument: { inlineCompletion: { dynamicRegistration: true } },
      }),
    });
    await client.connection.sendNotification(InitializedNotification.type, {});
    return client;
  }

  say(answers: readonly Said[]): void {
    writeFileSync(this.at("answers.json"), JSON.stringify(answers));
  }

  at(name: string): string {
    return join(this.folder, name);
  }

  /** What the scripted engine was asked. */
  events(kind: string): { event: string; prefix: string; suffix: string; num_candidates: number }[] {
    const log = existsSync(this.at("log.jsonl")) ? readFileSync(this.at("log.jsonl"), "utf8") : "";
    return log.split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter(({ event }) => event === kind);
  }

  async open(uri: string, text: string, languageId = "python"): Promise<void> {
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId, version: 1, text },
    });
  }

  async type(uri: string, line: number, character: number, text: string): Promise<void> {
    this.version += 1;
    const position = { line, character };
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version: this.version },
      contentChanges: [{ range: { start: position, end: position }, text }],
    });
  }

  async inline(uri: string, line: number, character: number, triggerKind: 1 | 2 = 2, token?: CancellationToken): Promise<InlineCompletionList> {
    const params = { textDocument: { uri }, position: { line, character }, context: { triggerKind } };
    return (await this.connection.sendRequest(InlineCompletionRequest.type, params, token)) as InlineCompletionList;
  }

  /** The first answer that has something: an engine that is still starting answers nothing. */
  async firstInline(uri: string, line: number, character: number, triggerKind: 1 | 2 = 2): Promise<InlineCompletionList> {
    await this.ready();
    return this.inline(uri, line, character, triggerKind);
  }

  async ready(): Promise<void> {
    await until("an engine that is ready", () => this.statuses.at(-1)?.busy === false);
  }

  async changedConfiguration(configuration: unknown): Promise<void> {
    const before = this.numPulls;
    this.configuration = configuration;
    await this.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
    await until("the server to ask for the settings", () => this.numPulls > before);
  }

  async leave(): Promise<number | null> {
    await this.connection.sendRequest("shutdown");
    await this.connection.sendNotification("exit");
    return this.end();
  }

  async end(): Promise<number | null> {
    const late = setTimeout(() => this.process.kill("SIGKILL"), PATIENCE_MS);
    const code = await this.exited;
    clearTimeout(late);
    this.connection.dispose();
    rmSync(this.folder, { recursive: true, force: true });
    return code;
  }
}
