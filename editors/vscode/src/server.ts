/**
 * The server process of this window: located, started, restarted, stopped.
 *
 *     restart(), a setting, trust ──▶ Coalesced ──▶ stop the old, locate, start the new
 *     the process ends by itself ──▶ Crashes ──▶ after a pause the same, or stopped for good
 */
import * as vscode from "vscode";
import { makeClient, placeOf } from "./client";
import { Coalesced } from "./coalesced";
import { Crashes } from "./crashes";
import type { Found } from "./locate";
import { Missed, type Place } from "./missed";
import type { QuietClient } from "./quiet_client";
import { ServerSection, type Setting } from "./server_section";
import { asServerStatus, NORMAL, type ServerStatus, type Shown } from "./status_text";

const QUIET_MS = 500;
const STATUS = "didChangeStatus";
const DRAFT = "midfill/draft";

/** `locate` and `settings` are asked again at each start. */
export interface ServerNeeds {
  readonly locate: () => Found | undefined;
  readonly settings: () => ReadonlyMap<string, Setting>;
  readonly log: vscode.LogOutputChannel;
}

export class Server implements vscode.Disposable {
  private client: QuietClient | undefined;
  private life: Shown["life"] = "starting";
  private status: ServerStatus = NORMAL;
  private lastMs: number | undefined;
  private readonly crashes = new Crashes();
  private readonly missed = new Missed();
  private readonly restarts = new Coalesced(() => this.replace(), QUIET_MS);
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly ran = new vscode.EventEmitter<unknown>();
  private readonly drafted = new vscode.EventEmitter<unknown>();
  readonly onChanged = this.changed.event;
  /** What a command of the server that the editor ran by itself came to. */
  readonly onRan = this.ran.event;
  /** A draft as it develops. */
  readonly onDraft = this.drafted.event;

  constructor(private readonly needs: ServerNeeds) {}

  /** For the status bar, less the model. */
  get shown(): Omit<Shown, "model"> {
    return { life: this.life, status: this.status, lastMs: this.lastMs };
  }

  /** The commands that the running server announces; undefined: none runs. */
  get announced(): ReadonlySet<string> | undefined {
    const running = this.life === "running" ? this.client : undefined;
    return running && new Set(running.initializeResult?.capabilities.executeCommandProvider?.commands ?? []);
  }

  /** The running client. */
  get running(): QuietClient | undefined {
    return this.life === "running" ? this.client : undefined;
  }

  /** Start, or start again, at once. */
  async restart(): Promise<void> {
    this.crashes.forget();
    await this.restarts.now();
  }

  /** Start again when things have calmed down. */
  restartSoon(): void {
    this.crashes.forget();
    this.restarts.ask();
  }

  dispose(): void {
    this.restarts.end();
    this.changed.dispose();
    this.ran.dispose();
    this.drafted.dispose();
    void this.stop();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.needs.log.warn(`stopping: ${String(error)}`);
    }
  }

  private async replace(): Promise<void> {
    this.become("starting");
    await this.stop();
    const found = this.needs.locate();
    if (found === undefined) {
      this.needs.log.warn("no server found: neither midfill.command nor a virtual environment nor PATH has one");
      this.become("missing");
      return;
    }
    await this.start(found);
  }

  private async start({ command, how }: Found): Promise<void> {
    this.needs.log.info(`starting ${command.join(" ")} (from ${how})`);
    const client: QuietClient = makeClient(
      command,
      new ServerSection(this.needs.settings),
      {
        onClosed: () => this.closed(client),
        onAnswered: (...answer) => this.answered(...answer),
        onRan: (outcome) => this.ran.fire(outcome),
      },
      this.needs.log,
    );
    this.client = client;
    client.onNotification(STATUS, (raw: unknown) => this.told(client, raw));
    client.onNotification(DRAFT, (raw: unknown) => {
      if (client === this.client) {
        this.drafted.fire(raw);
      }
    });
    try {
      await client.start();
      this.crashes.started();
      this.become("running");
    } catch (error) {
      this.needs.log.error(`cannot be started: ${String(error)}`);
      this.closed(client);
    }
  }

  private closed(client: QuietClient): void {
    if (client !== this.client) {
      return;
    }
    this.client = undefined;
    const pauseMs = this.crashes.pauseBeforeRestart();
    this.needs.log.warn(pauseMs === undefined ? "the server ended too often: it stays off" : `the server has ended; again in ${pauseMs} ms`);
    this.become(pauseMs === undefined ? "stopped" : "starting");
    if (pauseMs !== undefined) {
      this.restarts.ask(pauseMs);
    }
  }

  private told(client: QuietClient, raw: unknown): void {
    if (client !== this.client) {
      return;
    }
    const wasBusy = this.status.busy;
    this.status = asServerStatus(raw);
    this.changed.fire();
    if (wasBusy && !this.status.busy && this.missed.isWaiting(placeOfCursor())) {
      void vscode.commands.executeCommand("editor.action.inlineSuggest.trigger");
    }
  }

  private answered(place: Place, num: number, ms: number): void {
    this.missed.answered(place, num === 0, this.status.busy);
    if (num > 0) {
      this.lastMs = ms;
      this.changed.fire();
    }
  }

  private become(life: Shown["life"]): void {
    this.life = life;
    if (life !== "running") {
      this.status = NORMAL;
      this.lastMs = undefined;
    }
    this.changed.fire();
  }
}

function placeOfCursor(): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && placeOf(editor.document, editor.selection.active);
}
